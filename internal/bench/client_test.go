package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"
)

// bareClient does what any client must do and nothing else.
type bareClient struct {
	http  *http.Client
	token string
}

func newBareClient(address string) (*bareClient, error) {
	c := &bareClient{http: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}}
	request, err := http.NewRequest(http.MethodPost, address+"/oauth/token", strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode()))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth("demo", "demo")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var token struct {
		Access string `json:"access_token"`
	}
	err = json.NewDecoder(response.Body).Decode(&token)
	c.token = token.Access
	return c, err
}

// open requests a page and returns its body, decompressed.
func (c *bareClient) open(url string, compressed bool, use func(io.Reader) error) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if compressed {
		request.Header.Set("Accept-Encoding", "gzip")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if response.Header.Get("Content-Encoding") != "gzip" { // of a page that is too small, too
		return use(response.Body)
	}
	unzip, err := gzip.NewReader(response.Body)
	if err != nil {
		return err
	}
	return use(unzip)
}

func (c *bareClient) get(url string, compressed bool) ([]byte, error) {
	var body bytes.Buffer
	err := c.open(url, compressed, func(r io.Reader) error {
		_, err := body.ReadFrom(r)
		return err
	})
	return body.Bytes(), err
}

// download reads all pages, the lists at the same time, page after page, and throws them away.
func (c *bareClient) download(ctx context.Context, lists []listPages, compressed bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, list := range lists {
		group.Go(func() error {
			for _, url := range list.URLs {
				if err := ctx.Err(); err != nil {
					return err
				}
				err := c.open(url, compressed, func(r io.Reader) error {
					_, err := io.Copy(io.Discard, r)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// pages keeps all pages, list by list.
func (c *bareClient) pages(lists []listPages) ([][][]byte, error) {
	all := make([][][]byte, len(lists))
	for i, list := range lists {
		for _, url := range list.URLs {
			body, err := c.get(url, false)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], body)
		}
	}
	return all, nil
}
