//! Types in the order of one comparison, as heaps need them.

/// Gives a type the order of a comparison, and the equality that goes with it.
#[macro_export]
macro_rules! ordered_by {
    ($type:ty, $compare:expr) => {
        impl Ord for $type {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let compare: fn(&Self, &Self) -> std::cmp::Ordering = $compare;
                compare(self, other)
            }
        }
        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Eq for $type {}
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }
    };
}
