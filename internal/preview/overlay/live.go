package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// maxAnswer bounds one answer of the live Azure, and all pages of one list.
const maxAnswer = 64 << 20

// maxPages bounds the pages of one list.
const maxPages = 1000

// Live reads the live Azure. It sends GET requests and no others, and each only once: during one plan Azure does not change.
type Live struct {
	// Transport sends the requests.
	Transport policy.Transporter
	// Credential signs in, and Audience is that of its tokens.
	Credential azcore.TokenCredential
	Audience   string
	// Endpoint is the URL of Resource Manager.
	Endpoint string

	mu      sync.Mutex
	answers map[string]*answer
	reads   int
}

type answer struct {
	once   sync.Once
	status int
	body   []byte
	err    error
}

// Reads returns how many requests were sent.
func (l *Live) Reads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads
}

// SignIn returns an error if the credential does not sign in.
func (l *Live) SignIn(ctx context.Context) error {
	_, err := l.getToken(ctx)
	return err
}

func (l *Live) getToken(ctx context.Context) (azcore.AccessToken, error) {
	token, err := l.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{strings.TrimRight(l.Audience, "/") + "/.default"}})
	if err != nil {
		return token, fmt.Errorf("sign in to Azure: %w", err)
	}
	return token, nil
}

// Get returns the answer to a GET request with all pages of a list in one.
func (l *Live) Get(ctx context.Context, at *url.URL) (status int, body []byte, err error) {
	key := strings.ToLower(at.Path) + "?" + at.Query().Encode()
	l.mu.Lock()
	if l.answers == nil {
		l.answers = map[string]*answer{}
	}
	kept := l.answers[key]
	if kept == nil {
		kept = &answer{}
		l.answers[key] = kept
	}
	l.mu.Unlock()
	kept.once.Do(func() { kept.status, kept.body, kept.err = l.getAllPages(ctx, at) })
	return kept.status, kept.body, kept.err
}

func (l *Live) getAllPages(ctx context.Context, at *url.URL) (int, []byte, error) {
	status, body, err := l.send(ctx, at)
	if err != nil || status != http.StatusOK {
		return status, body, err
	}
	type page struct {
		Value    []json.RawMessage `json:"value"`
		NextLink string            `json:"nextLink"`
	}
	var list page
	if isList := json.Unmarshal(body, &list) == nil; !isList || list.NextLink == "" {
		return status, body, nil
	}
	all, size := list.Value, len(body)
	for n := 1; list.NextLink != ""; n++ {
		next, err := at.Parse(list.NextLink)
		switch {
		case err != nil || next.Scheme != at.Scheme || next.Host != at.Host:
			return 0, nil, fmt.Errorf("%s: the list continues at an address that is not of %s://%s, so it is not read", at.Path, at.Scheme, at.Host)
		case n >= maxPages || size > maxAnswer:
			return 0, nil, fmt.Errorf("%s: the list has more than %d pages or %d bytes. Plan fewer objects at a time", at.Path, maxPages, maxAnswer)
		}
		if status, body, err = l.send(ctx, next); err != nil || status != http.StatusOK {
			return status, body, err
		}
		size += len(body)
		list = page{}
		if err := json.Unmarshal(body, &list); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", at.Path, err)
		}
		all = append(all, list.Value...)
	}
	body, err = json.Marshal(map[string]any{"value": all})
	return http.StatusOK, body, err
}

// send sends one GET request.
func (l *Live) send(ctx context.Context, at *url.URL) (int, []byte, error) {
	l.mu.Lock()
	l.reads++
	l.mu.Unlock()
	token, err := l.getToken(ctx)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	request.Header.Set("Accept", "application/json")
	response, err := l.Transport.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("%s: the answer has more than %d bytes", at.Path, maxAnswer)
	}
	if err != nil {
		return 0, nil, err
	}
	return response.StatusCode, body, client.CheckAnswer(at.Path, response.StatusCode, body)
}
