package frame

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestStreamInTime writes a page in parts, each of which takes a time, and looks at what the reader has while the next part is awaited. A
// goroutine that is left would fail the test.
func TestStreamInTime(t *testing.T) {
	const head, second = "head ", 1000 * time.Millisecond
	for name, test := range map[string]struct {
		takes []time.Duration // of each part
		want  []string        // what the reader has just before the part is there
		end   string
		whole bool
	}{
		"quick":             {takes: []time.Duration{second / 4, second / 2}, want: []string{"", ""}, end: "head 0 1 ", whole: true},
		"slow second":       {takes: []time.Duration{second / 2, second}, want: []string{"", "head 0 "}, end: "head 0 1 "},
		"slow first":        {takes: []time.Duration{2 * second, second / 10, 0}, want: []string{"head ", "head 0 ", "head 0 1 "}, end: "head 0 1 2 "},
		"slow together":     {takes: []time.Duration{second / 2, second / 4, second / 2}, want: []string{"", "", "head 0 1 "}, end: "head 0 1 2 "},
		"slow for the last": {takes: []time.Duration{0, 0, 5 * second}, want: []string{"", "", "head 0 1 "}, end: "head 0 1 2 "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := httptest.NewRecorder()
				s := newStream(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
				s.startAfter(patience, func() string { return "top" })
				s.take()
				write := func(text string) {
					if _, err := s.Write([]byte(text)); err != nil {
						t.Fatal(err)
					}
				}
				write(head)
				for i, takes := range test.takes {
					s.wait()
					time.Sleep(takes)
					synctest.Wait()
					if got := w.Body.String(); got != test.want[i] {
						t.Errorf("before part %d the reader has %q, want %q", i, got, test.want[i])
					}
					write(string(rune('0'+i)) + " ")
				}
				if begun := s.stop(); begun == test.whole {
					t.Fatalf("the page has begun: %t", begun)
				}
				if test.whole {
					return
				}
				s.finish()
				if got := w.Body.String(); got != test.end {
					t.Errorf("got the page %q, want %q", got, test.end)
				}
			})
		})
	}
}

// TestTopInTime asks for content for two seconds: after one, the reader has the top.
func TestTopInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		s := newStream(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		s.startAfter(patience, func() string { return "top" })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !s.take() || w.Body.String() != "top" {
			t.Errorf("the reader has %q, want the top", w.Body.String())
		}
		s.stop()
		s.finish()
		if s.stop(); w.Code != http.StatusOK {
			t.Errorf("got status %d, want 200", w.Code)
		}
	})
}
