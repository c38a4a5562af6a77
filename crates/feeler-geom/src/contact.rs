//! Second-order contact geometry (MATH §2): is a critical pair of footpoints a strict local minimum?
