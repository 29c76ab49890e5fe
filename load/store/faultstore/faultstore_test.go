package faultstore_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
)

// calls has each call once, on a store that contains "k".
var calls = map[string]func(ctx context.Context, s *faultstore.Store) error{
	"create": func(ctx context.Context, s *faultstore.Store) error {
		return s.Put(ctx, "new", strings.NewReader("new"), store.CreateOnly)
	},
	"replace": func(ctx context.Context, s *faultstore.Store) error {
		return s.Put(ctx, "k", strings.NewReader("new"), store.Replace)
	},
	"delete": func(ctx context.Context, s *faultstore.Store) error { return s.Delete(ctx, "k") },
	"get": func(ctx context.Context, s *faultstore.Store) error {
		r, err := s.Get(ctx, "k")
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil && string(data) != "01234" {
			err = errors.New("the first half is " + string(data))
		}
		return errors.Join(err, r.Close())
	},
	"list": func(ctx context.Context, s *faultstore.Store) error {
		for _, err := range s.List(ctx, "") {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"open": func(ctx context.Context, s *faultstore.Store) error {
		r, err := s.OpenAt(ctx, "k")
		if err != nil {
			return err
		}
		defer r.Close()
		p := make([]byte, 10)
		if n, err := r.ReadAt(p[:4], 1); n != 4 || err != nil {
			return errors.New("the first half cannot be read")
		}
		n, err := r.ReadAt(p, 2)
		if err != nil && !errors.Is(err, io.EOF) && n != 3 {
			return errors.New("more than the first half was read: " + string(p[:n]))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	},
	"tag": func(ctx context.Context, s *faultstore.Store) error { _, err := s.Tag(ctx, "k"); return err },
	"replace seen": func(ctx context.Context, s *faultstore.Store) error {
		tag, err := s.Store.(store.Replacer).Tag(ctx, "k")
		return errors.Join(err, s.ReplaceIf(ctx, "k", strings.NewReader("new"), tag))
	},
}

func content(t *testing.T, s store.Store) string {
	t.Helper()
	var all []string
	for o, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Get(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, o.Key+"="+string(data))
	}
	return strings.Join(all, " ")
}

// holding returns a fault over a store that contains "k".
func holding(t *testing.T, s *faultstore.Store) *faultstore.Store {
	t.Helper()
	m := new(memstore.Mem)
	if err := m.Put(t.Context(), "k", strings.NewReader("0123456789"), store.Replace); err != nil {
		t.Fatal(err)
	}
	s.Store = m
	return s
}

// TestKinds fails each call with each kind of fault: none is applied, and each returns the kind's error.
func TestKinds(t *testing.T) {
	cause := map[faultstore.Kind]error{faultstore.Timeout: context.DeadlineExceeded, faultstore.Truncated: io.ErrUnexpectedEOF}
	refused := map[string]error{"create": store.ErrExists, "replace seen": store.ErrChanged}
	for name, call := range calls {
		for _, kind := range faultstore.Kinds {
			s := holding(t, &faultstore.Store{FailAt: 1, Kind: kind, Once: true})
			err := call(t.Context(), s)
			want := []error{faultstore.ErrInjected, cause[kind]}
			if kind == faultstore.Refused {
				want[1] = refused[name]
			}
			for _, want := range want {
				if want != nil && !errors.Is(err, want) {
					t.Errorf("%s, %v: got %v, want %v", name, kind, err, want)
				}
			}
			for _, other := range []error{store.ErrExists, store.ErrChanged, context.DeadlineExceeded} {
				if errors.Is(err, other) && !slices.Contains(want, other) {
					t.Errorf("%s, %v: got %v", name, kind, err)
				}
			}
			if got := content(t, s.Store); got != "k=0123456789" || s.Calls() != 1 {
				t.Errorf("%s, %v: the store holds %s after %d calls", name, kind, got, s.Calls())
			}
			if err := call(t.Context(), s); err != nil {
				t.Errorf("%s, %v: the call after it: %v", name, kind, err)
			}
		}
	}
}

// TestApplied fails calls after they were applied.
func TestApplied(t *testing.T) {
	for name, want := range map[string]string{
		"create": "k=0123456789 new=new", "replace": "k=new", "replace seen": "k=new", "delete": "", "get": "k=0123456789",
	} {
		s := holding(t, &faultstore.Store{FailAt: 1, Applied: true})
		if err := calls[name](t.Context(), s); !errors.Is(err, faultstore.ErrInjected) {
			t.Errorf("%s: got %v", name, err)
		}
		if got := content(t, s.Store); got != want {
			t.Errorf("%s: the store holds %q, want %q", name, got, want)
		}
	}
}

// TestCrash checks that all calls after the failed one fail plainly and are not applied.
func TestCrash(t *testing.T) {
	s := holding(t, &faultstore.Store{FailAt: 2, Kind: faultstore.Timeout})
	if err := calls["get"](t.Context(), s); err != nil {
		t.Errorf("before it: %v", err)
	}
	if err := calls["create"](t.Context(), s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a timeout", err)
	}
	for name, call := range calls {
		if err := call(t.Context(), s); !errors.Is(err, faultstore.ErrInjected) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s after it: got %v", name, err)
		}
	}
	if got := content(t, s.Store); got != "k=0123456789" {
		t.Errorf("the store holds %s", got)
	}
}

// TestUnsupported wraps a store without the optional interfaces.
func TestUnsupported(t *testing.T) {
	s := &faultstore.Store{Store: struct{ store.Store }{new(memstore.Mem)}}
	_, openErr := s.OpenAt(t.Context(), "k")
	_, tagErr := s.Tag(t.Context(), "k")
	for _, err := range []error{openErr, tagErr, s.ReplaceIf(t.Context(), "k", strings.NewReader(""), "1"), s.Clean(t.Context())} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v, want errors.ErrUnsupported", err)
		}
	}
	if found, err := s.Leftovers(t.Context(), time.Now()); found != nil || err != nil {
		t.Errorf("leftovers: %v, %v", found, err)
	}
}
