package text

// Bounded is bounded.
var Bounded = bounded
