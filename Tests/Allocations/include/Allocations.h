#pragma once

/// Counts the allocations of the calling thread from now on, or stops.
void portero_count_allocations(int on);
/// Allocations counted by the calling thread since it began; -1 where they cannot be counted (under a sanitizer).
long portero_allocations(void);
