package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

var errSeeker = errors.New("not a position in this list under these filters")

// cursorHead is the size of a position: seconds, nanoseconds, id.
const cursorHead = 8 + 4 + 8

// encodeSeeker returns the opaque cursor of a position in a walk. It is sealed for that walk only.
func (ring keyring) encodeSeeker(walk string, at Position, state string) string {
	payload := make([]byte, cursorHead, cursorHead+len(state))
	binary.BigEndian.PutUint64(payload, uint64(at.UpdatedAt.Unix()))
	binary.BigEndian.PutUint32(payload[8:], uint32(at.UpdatedAt.Nanosecond()))
	binary.BigEndian.PutUint64(payload[12:], uint64(at.ID))
	return ring.seal(sealCursor, walk, append(payload, state...))
}

// decodeSeeker reads a cursor that encodeSeeker wrote for the same walk. It refuses every other text.
func (ring keyring) decodeSeeker(walk, seeker string) (at Position, state string, err error) {
	payload, _, ok := ring.open(sealCursor, walk, seeker)
	if !ok || len(payload) < cursorHead {
		return Position{}, "", errSeeker
	}
	seconds, nanos := int64(binary.BigEndian.Uint64(payload)), int64(binary.BigEndian.Uint32(payload[8:]))
	at = Position{time.Unix(seconds, nanos).UTC(), int64(binary.BigEndian.Uint64(payload[12:]))}
	return at, string(payload[cursorHead:]), nil
}

// walkOf returns what identifies a walk: its cursors are valid for no other walk. The page size is not part of it, so
// it can change during a walk.
func walkOf(v *visit, q Query) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %s", v.account.ClientID, v.instant, q.Feed)
	for _, at := range []time.Time{q.UpdatedSince, q.ChangedFrom, q.ChangedTo} {
		b.WriteByte(' ')
		if !at.IsZero() {
			b.WriteString(at.UTC().Format(time.RFC3339Nano))
		}
	}
	fmt.Fprintf(&b, " %t %q %q", q.UpdatedAfter, q.PricingDateFrom, q.PricingDateTo)
	return b.String()
}
