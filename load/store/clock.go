package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// clockPrefix begins the keys of the objects that Now puts.
const clockPrefix = "_dealflow/clock-"

// Now returns the store's own time, by which it dates its objects. It puts an object, reads its date from a listing, and
// deletes it. id makes the object's key unique. It also deletes such objects, and those of Probe, that have this age or more.
func Now(ctx context.Context, s Store, id string, age time.Duration) (now time.Time, err error) {
	key := clockPrefix + id
	if err := s.Put(ctx, key, strings.NewReader("what time is it?\n"), Replace); err != nil {
		return now, fmt.Errorf("read the store's clock: %w", err)
	}
	gone := []string{key}
	defer func() {
		clean, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), probeTimeout, errors.New("removing the object that reads the clock took too long"))
		defer cancel()
		err = errors.Join(err, s.Delete(clean, gone...))
	}()
	objects, err := Listed(ctx, s, clockPrefix)
	if err != nil {
		return now, fmt.Errorf("read the store's clock: %w", err)
	}
	for _, object := range objects {
		if object.Key == key {
			now = object.Modified
		}
	}
	if now.IsZero() {
		return now, fmt.Errorf("read the store's clock: the listing does not have %s, which was just written; nothing can be removed safely from such a store", key)
	}
	probes, err := Listed(ctx, s, ProbePrefix)
	if err != nil {
		return now, err
	}
	for _, object := range append(objects, probes...) {
		if object.Modified.Before(now.Add(-age)) {
			gone = append(gone, object.Key)
		}
	}
	return now, nil
}

// NowByReading returns an instant of the store's time without putting an object. A folder's files are dated by the
// machine's clock, which says machine. Of another store it is the date of the newest object below prefix: the present is later.
func NowByReading(ctx context.Context, s Store, prefix string, machine time.Time) (time.Time, error) {
	if LocalPath(s) != "" {
		return machine, nil
	}
	objects, err := Listed(ctx, s, prefix)
	if err != nil {
		return time.Time{}, err
	}
	var newest time.Time
	for _, object := range objects {
		if object.Modified.After(newest) {
			newest = object.Modified
		}
	}
	return newest, nil
}

// Listed returns the objects whose keys begin with prefix, as List yields them.
func Listed(ctx context.Context, s Store, prefix string) ([]Object, error) {
	var found []Object
	for object, err := range s.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		found = append(found, object)
	}
	return found, nil
}
