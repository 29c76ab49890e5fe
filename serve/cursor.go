package serve

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"dealflow/schemas/api"
)

var errSeeker = errors.New("not a position in this list")

// encodeSeeker makes the opaque cursor of a position. It names its feed, so that a cursor taken to
// another list is refused.
func encodeSeeker(feed api.Feed, at Position) string {
	text := fmt.Sprintf("1 %s %d %d", feed, at.UpdatedAt.UnixNano(), at.ID)
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// decodeSeeker reads back exactly what encodeSeeker writes.
func decodeSeeker(feed api.Feed, seeker string) (Position, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(seeker)
	if err != nil {
		return Position{}, errSeeker
	}
	var nanos, id int64
	if _, err := fmt.Fscanf(strings.NewReader(string(text)), "1 "+feed.String()+" %d %d", &nanos, &id); err != nil {
		return Position{}, errSeeker
	}
	at := Position{time.Unix(0, nanos).UTC(), id}
	if encodeSeeker(feed, at) != seeker {
		return Position{}, errSeeker
	}
	return at, nil
}
