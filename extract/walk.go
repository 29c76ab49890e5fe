package extract

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// walk follows a list from its first page to its last and calls each for every page, in order. While each works on a
// page, the next page is already requested; memory contains at most these two. A page is valid until each returns.
func (j *job) walk(ctx context.Context, start string, each func(*listPage) error) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan *listPage)
	var readErr error
	go func() {
		defer close(pages)
		readErr = j.follow(reading, start, pages)
	}()
	var err error
	for l := range pages {
		if err == nil {
			if err = each(l); err != nil {
				err = fmt.Errorf("page %d: %w", l.number, err)
				cancel()
			}
		}
		l.answer.release()
	}
	if err != nil {
		return err
	}
	return readErr
}

// follow fetches page after page and sends each to pages.
func (j *job) follow(ctx context.Context, start string, pages chan<- *listPage) error {
	seen := map[string]bool{start: true}
	link := start
	for number := 1; link != ""; number++ {
		if number > j.client.cfg.MaxPages {
			return fmt.Errorf("page %d: want %d pages at most; the list seems to have no end", number, j.client.cfg.MaxPages)
		}
		l, err := j.next(ctx, link, number)
		if err != nil {
			return fmt.Errorf("page %d: %w", number, &pageError{number: number, err: err})
		}
		// The receiver owns the page from here on.
		l.number = number
		next, from := l.page.Next, l.url
		seen[from] = true // fetchFirst may have added pageSize to the first address
		select {
		case pages <- l:
		case <-ctx.Done():
			l.answer.release()
			return fmt.Errorf("page %d: %w", number, ended(ctx))
		}
		if next == "" {
			return nil
		}
		if link, err = j.resolve(from, next); err != nil {
			return fmt.Errorf("page %d: next: %w", number, err)
		}
		if seen[link] {
			return fmt.Errorf("page %d: next: %w", number, &LinkError{Link: next, Reason: "already followed: the list's next links form a circle"})
		}
		seen[link] = true
	}
	return nil
}

// resolve makes a link of the feed's list absolute. It refuses one to another list with a *LinkError: what is there would become deals
// of this feed.
func (j *job) resolve(from, link string) (string, error) {
	resolved, err := j.client.resolve(from, link)
	if err != nil {
		return "", err
	}
	return resolved, j.checkList(resolved)
}

// checkList returns an error unless an absolute link leads to the feed's list.
func (j *job) checkList(link string) error {
	u, err := url.Parse(link)
	if err != nil || !strings.HasSuffix(strings.ToLower(path.Clean("/"+u.Path)), j.feed.Path()) {
		return &LinkError{Link: j.client.redact(link), Reason: fmt.Sprintf("does not lead to the list %s, so it is not followed", j.feed.Path())}
	}
	return nil
}

func (j *job) next(ctx context.Context, link string, number int) (*listPage, error) {
	if number == 1 {
		return j.fetchFirst(ctx, link)
	}
	return j.fetch(ctx, link)
}

// pageError carries the number of the page of a walk that could not be fetched, for failedPage. It adds no text.
type pageError struct {
	number int
	err    error
}

func (e *pageError) Error() string { return e.err.Error() }
func (e *pageError) Unwrap() error { return e.err }

// failedPage returns the number of the page that could not be fetched; 0 if err is another error.
func failedPage(err error) int {
	var page *pageError
	if errors.As(err, &page) {
		return page.number
	}
	return 0
}
