package sim

import (
	"math"
	"math/rand/v2"

	"dealflow/serve/sim/calibration"
)

// stream returns the random stream that a seed and some numbers identify. Each purpose has its own stream, so that a
// new draw in one place changes no draw in another.
func stream(seed uint64, names ...uint64) *dice {
	a := mix(seed, names...)
	return &dice{rand.New(rand.NewPCG(a, splitmix(a)))}
}

// mix returns a seed that depends on a seed and on names.
func mix(seed uint64, names ...uint64) uint64 {
	a := splitmix(seed)
	for _, name := range names {
		a = splitmix(a ^ splitmix(name+0x632be59bd9b4e019))
	}
	return a
}

// splitmix is the finaliser of SplitMix64: it maps similar inputs to unrelated outputs.
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// dice draws from a random stream. It is not safe for concurrent use.
type dice struct{ *rand.Rand }

// chance returns true with probability p. It always draws once, so that a change of p does not change later draws.
func (d *dice) chance(p float64) bool { return d.Float64() < p }

// between draws an integer from low to high, inclusive.
func (d *dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// lognormal draws from a lognormal distribution. sigma is the standard deviation of the logarithm.
func (d *dice) lognormal(median, sigma float64) float64 {
	return median * math.Exp(sigma*d.NormFloat64())
}

// poisson draws from a Poisson distribution.
func (d *dice) poisson(mean float64) int {
	const most = 500 // above this mean exp(-mean) is nearly 0
	if mean > most {
		return d.poisson(mean/2) + d.poisson(mean/2)
	}
	count, product := 0, d.Float64()
	for limit := math.Exp(-mean); product > limit; count++ {
		product *= d.Float64()
	}
	return count
}

// pick draws one of the choices, each with equal probability.
func pick[T any](d *dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// choice returns a choice with its weight, for pickWeighted.
func choice[T any](weight float64, value T) calibration.Weighted[T] {
	return calibration.Weighted[T]{Weight: weight, Value: value}
}

// pickWeighted draws one of the choices by weight.
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

// some draws n of the choices without repetition, in random order. If n is larger, it returns all of them.
func some[T any](d *dice, n int, choices []T) []T {
	order := d.Perm(len(choices))
	picked := make([]T, 0, n)
	for _, i := range order[:min(n, len(order))] {
		picked = append(picked, choices[i])
	}
	return picked
}
