package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// The api-versions of the lists. Their answers have had the same fields in all versions since.
const (
	subscriptionsAPIVersion = "2022-12-01"
	providersAPIVersion     = "2021-04-01"
	authorizationAPIVersion = "2022-04-01"
	computeAPIVersion       = "2024-07-01"
	networkAPIVersion       = "2024-05-01"
	aksAPIVersion           = "2025-05-01"
)

// list reads a list as the identity, or as the user if the identity may not.
func (a *asker) list(ctx context.Context, path, apiVersion string, query url.Values) ([]json.RawMessage, error) {
	items, err := a.client.List(ctx, path, apiVersion, query)
	if !isForbidden(err) {
		return items, err
	}
	user, userErr := a.userClient()
	if userErr != nil {
		return nil, err
	}
	if items, userErr = user.List(ctx, path, apiVersion, query); userErr != nil {
		return nil, err
	}
	return items, nil
}

// get reads a body as list does.
func (a *asker) get(ctx context.Context, path, apiVersion string) (json.RawMessage, error) {
	response, err := a.client.Get(ctx, arm.ID(path), apiVersion, nil)
	if isForbidden(err) {
		user, userErr := a.userClient()
		if userErr != nil {
			return nil, err
		}
		if response, userErr = user.Get(ctx, arm.ID(path), apiVersion, nil); userErr != nil {
			return nil, err
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

var errNoUser = errors.New("no user is signed in")

// userClient returns the client of the user who runs the checks.
func (a *asker) userClient() (*armclient.Client, error) {
	if a.options.User == nil {
		return nil, errNoUser
	}
	c, err := armclient.New(a.options.User, a.account.Cloud, armclient.Options{Principal: "user", Version: a.options.Version,
		Transport: a.options.Transport})
	if err != nil {
		return nil, err
	}
	return c.ReadOnly(), nil
}

func isForbidden(err error) bool {
	var failure *arm.Error
	return errors.As(err, &failure) && failure.Status == 403
}

// unknown returns the line of a check that could not be made because Azure refused a read.
func (a *asker) unknown(check string, err error) Check {
	return Check{Check: check, Status: Unknown, Subject: a.scope(), Fix: assignRole("Reader", a.account),
		Message: fmt.Sprintf("Azure refuses the read that this check needs: %v. Let the identity read, or sign in with az as a user who may.", err)}
}

// hasNamed reports whether a list has an item with a value.
func hasNamed(items []json.RawMessage, key, value string) bool {
	for _, item := range items {
		var body map[string]any
		if json.Unmarshal(item, &body) == nil {
			if text, is := body[key].(string); is && strings.EqualFold(text, value) {
				return true
			}
		}
	}
	return false
}
