//! Total order of a type from one comparison function, for binary heaps.

/// Implements `Ord`, `PartialOrd`, `Eq` and `PartialEq` for a type by a comparison function, which must
/// define a total order.
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
