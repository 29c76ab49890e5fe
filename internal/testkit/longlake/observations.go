package longlake

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/transform"
)

// observations are the deals that a market shows in a night, in the form that transform needs. A payload is built when
// it is requested: the market's body with absolute links, as sent over the network.
type observations struct {
	ids   []int64 // ascending
	deals map[int64]observed
}

// observed is a deal with its body as the market stores it.
type observed struct {
	body []byte
	hash lake.Digest // of the payload
}

var _ transform.Payloads = (*observations)(nil)

func newObservations() observations { return observations{deals: map[int64]observed{}} }

// observe replaces the observed deals with the given records. A deal that is no longer shown stays readable until
// forget.
func (o *observations) observe(records []serve.Record) {
	o.ids = make([]int64, len(records))
	var payload []byte
	for i, record := range records {
		o.ids[i] = record.ID
		// The market returns the same slice for an unchanged deal, so comparing addresses
		// saves hashing the body again.
		if last, ok := o.deals[record.ID]; ok && &last.body[0] == &record.Body[0] {
			continue
		}
		payload = appendPayload(payload[:0], record.Body)
		o.deals[record.ID] = observed{record.Body, sha256.Sum256(payload)}
	}
}

func (o *observations) forget(id int64) { delete(o.deals, id) }

// IDs implements transform.Payloads.
func (o *observations) IDs() []int64 { return o.ids }

// PayloadHash implements transform.Payloads.
func (o *observations) PayloadHash(id int64) lake.Digest { return o.deals[id].hash }

// Payload implements transform.Payloads.
func (o *observations) Payload(id int64, buf []byte) ([]byte, error) {
	deal, ok := o.deals[id]
	if !ok {
		return nil, fmt.Errorf("deal %d was not observed", id)
	}
	return appendPayload(buf[:0], deal.body), nil
}

// How a link under the API begins in a market's body, and in a payload.
var (
	inBody    = []byte(`"href":"/`)
	inPayload = []byte(`"href":"` + Base + `/`)
)

// appendPayload appends a market's body with absolute links.
func appendPayload(dst, body []byte) []byte {
	for {
		before, after, found := bytes.Cut(body, inBody)
		dst = append(dst, before...)
		if !found {
			return dst
		}
		dst = append(dst, inPayload...)
		body = after
	}
}
