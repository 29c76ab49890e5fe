package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// health is GET /healthz: it shows that the server answers, and the market's present.
func (s *Server) health(w http.ResponseWriter, r *http.Request) error {
	return respondJSON(w, r, map[string]string{"status": "ok", "time": stamp(s.now())})
}

// longestAdvance is the maximum by which one request may move the market's time.
const longestAdvance = 20 * 366 * 24 * time.Hour

// advance is POST /_sim/advance: it moves the time of a simulated market forward, by "?by=24h" or by a JSON body
// {"seconds":86400}.
func (s *Server) advance(w http.ResponseWriter, r *http.Request) error {
	market, ok := s.config.Source.(Advancer)
	if !ok {
		return errNoPath
	}
	by, err := advanceBy(w, r)
	if err != nil {
		return err
	}
	if by < 0 || by > longestAdvance {
		return badRequest("advance: want 0 to 20 years")
	}
	now, err := market.Advance(by)
	if err != nil {
		return badRequest("advance the market's time: %v", err)
	}
	return respondJSON(w, r, map[string]string{"now": now.UTC().Format(time.RFC3339Nano)})
}

func advanceBy(w http.ResponseWriter, r *http.Request) (time.Duration, error) {
	if text := r.URL.Query().Get("by"); text != "" {
		by, err := time.ParseDuration(text)
		if err != nil {
			return 0, badRequest("by %s: want a duration such as 24h or 90s", quote(text))
		}
		return by, nil
	}
	var body struct {
		Seconds *float64 `json:"seconds"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10))
	decoder.DisallowUnknownFields()
	if err := errors.Join(decoder.Decode(&body), atEnd(decoder)); err != nil || body.Seconds == nil {
		return 0, badRequest(`want ?by=24h or a JSON body {"seconds":86400}`)
	}
	if seconds := *body.Seconds; seconds < 0 || seconds > longestAdvance.Seconds() {
		return -1, nil
	}
	return time.Duration(*body.Seconds * float64(time.Second)), nil
}

// atEnd returns an error if more text follows.
func atEnd(decoder *json.Decoder) error {
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

func respondJSON(w http.ResponseWriter, r *http.Request, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	respond(w, r, http.StatusOK, typeJSON, body)
	return nil
}
