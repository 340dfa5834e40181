package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"
)

// ReadyURL asks an HTTP(S) URL until it answers 200. With client it shows a certificate or trusts a CA; nil trusts any
// serving certificate, which is enough to learn whether a loopback port serves.
func ReadyURL(url string, client *http.Client) func(context.Context) error {
	if client == nil {
		client = &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		}}
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}
