package chart

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// seen says how people with a kind of sight see linear RGB (Machado, Oliveira and Fernandes 2009, at full
// strength).
var seen = map[string][3][3]float64{
	"full sight":   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// TestColours checks the charts' colours, in light and in dark. Their contrast with the page is at least 3 to 1. For
// every kind of sight, markets differ from each other, ages from their neighbours, and what became of deals from all else that did.
func TestColours(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{[^}]*--back[^}]*\}`).FindAllString(Style, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes, want light and dark", len(schemes))
	}
	for i, scheme := range []string{"light", "dark"} {
		colours := map[string][3]float64{}
		for _, found := range regexp.MustCompile(`--(\w+): #(\w{6});`).FindAllStringSubmatch(schemes[i], -1) {
			colours[found[1]] = linear(t, found[2])
		}
		for _, name := range slices.Sorted(maps.Keys(colours)) {
			least := map[string]float64{"back": 0, "panel": 0, "rule": 0, "text": 7, "soft": 4.5, "link": 4.5}
			want, ok := least[name]
			if !ok {
				want = 3
			}
			if got := contrast(colours[name], colours["back"]); got < want {
				t.Errorf("%s: --%s has a contrast of %.2f with the page, want %v", scheme, name, got, want)
			}
		}
		for sight, matrix := range seen {
			differ := func(a, b string, want float64) {
				if got := distance(lab(apply(matrix, colours[a])), lab(apply(matrix, colours[b]))); got < want {
					t.Errorf("%s, %s: --%s and --%s are %.1f apart, want %v", scheme, sight, a, b, got, want)
				}
			}
			markets := []string{"s0", "s1", "s2", "s3", "s4", "s5"}
			for i, a := range markets {
				for _, b := range markets[i+1:] {
					differ(a, b, 12)
				}
			}
			for _, pair := range [][2]string{{"q0", "q1"}, {"q1", "q2"}, {"q2", "q3"}, {"q3", "none"}} {
				differ(pair[0], pair[1], 8)
			}
			for _, pair := range [][2]string{{"add", "edit"}, {"add", "cut"}, {"edit", "cut"}, {"add", "none"}, {"edit", "none"}, {"cut", "none"}} {
				differ(pair[0], pair[1], 12)
			}
		}
	}
}

// linear reads a colour of sRGB as amounts of light.
func linear(t *testing.T, hex string) (rgb [3]float64) {
	t.Helper()
	for i := range rgb {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(n) / 255; v <= 0.04045 {
			rgb[i] = v / 12.92
		} else {
			rgb[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

func apply(m [3][3]float64, rgb [3]float64) (out [3]float64) {
	for i := range m {
		for j := range rgb {
			out[i] += m[i][j] * rgb[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is WCAG's contrast ratio.
func contrast(a, b [3]float64) float64 {
	light, dark := luminance(a)+0.05, luminance(b)+0.05
	return max(light, dark) / min(light, dark)
}

// lab gives a colour in CIELAB, where distances are what people see.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(luminance(c))
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}
