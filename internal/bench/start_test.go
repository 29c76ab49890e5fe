//go:build unix

package bench_test

import "testing"

// BenchmarkStart is the time of a command that needs no lake.
func BenchmarkStart(b *testing.B) {
	path := program(b)
	for _, word := range []string{"version", "help"} {
		b.Run(word, func(b *testing.B) {
			var best usage
			for b.Loop() {
				took, _ := execute(b, commandLine{Args: []string{path, word}})
				best = least(best, took)
			}
			best.report(b)
		})
	}
}
