package sim

import (
	"math"
	"math/rand/v2"

	"dealflow/serve/sim/calibration"
)

// stream is the random stream of one thing: what a seed and a few numbers name. Each purpose has
// its own, so that a new draw in one place moves nothing elsewhere.
func stream(seed uint64, names ...uint64) *dice {
	a := mix(seed, names...)
	return &dice{rand.New(rand.NewPCG(a, splitmix(a)))}
}

// mix makes a seed from a seed and names.
func mix(seed uint64, names ...uint64) uint64 {
	a := splitmix(seed)
	for _, name := range names {
		a = splitmix(a ^ splitmix(name+0x632be59bd9b4e019))
	}
	return a
}

// splitmix is the finaliser of SplitMix64: near inputs give far outputs.
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// dice draws from a stream.
type dice struct{ *rand.Rand }

// chance is true with probability p. It draws whatever p is, so that a rate that changes moves no
// later draw.
func (d *dice) chance(p float64) bool { return d.Float64() < p }

// between is a whole number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// lognormal has the given median; sigma is that of the logarithm.
func (d *dice) lognormal(median, sigma float64) float64 {
	return median * math.Exp(sigma*d.NormFloat64())
}

// poisson is the count of rare events with this mean.
func (d *dice) poisson(mean float64) int {
	const most = 500 // beyond it exp(-mean) comes near to nothing
	if mean > most {
		return d.poisson(mean/2) + d.poisson(mean/2)
	}
	count, product := 0, d.Float64()
	for limit := math.Exp(-mean); product > limit; count++ {
		product *= d.Float64()
	}
	return count
}

// pick is one of the choices, all alike.
func pick[T any](d *dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// choice is a choice and its weight, for pickWeighted.
func choice[T any](weight float64, value T) calibration.Weighted[T] {
	return calibration.Weighted[T]{Weight: weight, Value: value}
}

// pickWeighted is one of the choices, by weight.
func pickWeighted[T any](d *dice, choices ...calibration.Weighted[T]) T {
	total := 0.0
	for _, c := range choices {
		total += c.Weight
	}
	at := d.Float64() * total
	for _, c := range choices {
		if at -= c.Weight; at < 0 {
			return c.Value
		}
	}
	return choices[len(choices)-1].Value
}

// some is n of the choices without repetition, in random order; all of them where n is larger.
func some[T any](d *dice, n int, choices []T) []T {
	order := d.Perm(len(choices))
	picked := make([]T, 0, n)
	for _, i := range order[:min(n, len(order))] {
		picked = append(picked, choices[i])
	}
	return picked
}
