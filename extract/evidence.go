package extract

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"dealflow/schemas/api"
)

// missingForms caches the forms that missingForm has found.
type missingForms map[api.Feed]api.ErrorForm

// missingForm returns the form of the API's 404 for an id that cannot exist. It asks once per feed and client. It
// passes over an id that mayExist, and one that is answered with 200 or 400. The zero form means that there is none.
func (j *job) missingForm(ctx context.Context, mayExist func(id int64) bool) (api.ErrorForm, error) {
	c := j.client
	c.mu.Lock()
	form, asked := c.missing[j.feed]
	c.mu.Unlock()
	if asked {
		return form, nil
	}
	form, err := j.requestMissing(ctx, mayExist)
	if err != nil {
		return api.ErrorForm{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing[j.feed] = form
	return form, nil
}

func (j *job) requestMissing(ctx context.Context, mayExist func(id int64) bool) (api.ErrorForm, error) {
	for _, id := range api.ImpossibleIDs() {
		if mayExist(id) {
			continue
		}
		said, err := j.requestByID(ctx, id, nil)
		switch status := refusal(err); {
		case err != nil && endsFeed(ctx, err):
			return api.ErrorForm{}, err
		case err != nil && (status == nil || status.Status != http.StatusBadRequest):
			return api.ErrorForm{}, nil // a failure: the API has no 404 to compare with
		case said.says == Gone && said.form.IsRecognisable():
			return said.form, nil
		case said.says == Gone || said.says == OutOfEntitlement:
			return api.ErrorForm{}, nil
		}
	}
	return api.ErrorForm{}, nil
}

// prove returns which of the refused deals have evidence. The caller has made sure that deals in the list answer 200,
// before the refusals and after them.
func (j *job) prove(ctx context.Context, refused map[int64]idReply, mayExist func(id int64) bool) (map[int64]bool, error) {
	proved := make(map[int64]bool, len(refused))
	var forbidden api.ErrorForm // of the first recognisable 403: the API refused one deal and returned another
	for _, id := range slices.Sorted(maps.Keys(refused)) {
		said := refused[id]
		switch {
		case said.form.ErrorID:
			proved[id] = true
		case !said.form.IsRecognisable():
		case said.says == Gone:
			missing, err := j.missingForm(ctx, mayExist)
			if err != nil {
				return nil, err
			}
			proved[id] = said.form == missing
		case said.says == OutOfEntitlement:
			if !forbidden.IsRecognisable() {
				forbidden = said.form
			}
			proved[id] = said.form == forbidden
		}
	}
	return proved, nil
}
