package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestPages reads answers to a request for a list.
func TestPages(t *testing.T) {
	broken := strings.Repeat(`{"name":"x"},`, 1000)
	for name, tc := range map[string]struct {
		reason string
		body   string
		length int // Content-Length of the answer, 0 for the real length
		want   []string
		code   string
		class  arm.Class
	}{
		"elements": {"each element is unchanged", `{"value":[{ "name":"a" },{"name":"b"}]}`, 0,
			[]string{`{ "name":"a" }`, `{"name":"b"}`}, "", ""},
		"beside others": {"a page may have other members",
			"{\"count\":2,\"first\":{\"value\":[1]},\"Value\":[{\"name\":\"a\"}],\"nextLink\":null}\n", 0,
			[]string{`{"name":"a"}`}, "", ""},
		"none":      {"a list may be empty", `{"value":[]}`, 0, nil, "", ""},
		"null":      {"some lists are null", `{"value":null}`, 0, nil, "", ""},
		"no value":  {"resources would seem to be gone by any other answer", `{}`, 0, nil, client.CodeInvalidAnswer, arm.ClassRetry},
		"no answer": {"an empty answer is not a list", ``, 0, nil, client.CodeInvalidAnswer, arm.ClassRetry},
		"HTML":      {"proxies return this", `<html>`, 0, nil, client.CodeInvalidAnswer, arm.ClassRetry},
		"an array":  {"it is not a page", `[{"name":"a"}]`, 0, nil, client.CodeInvalidAnswer, arm.ClassRetry},
		"value is not a list": {"an object is not a list either", `{"value":{"name":"a"}}`, 0, nil, client.CodeInvalidAnswer,
			arm.ClassRetry},
		"nextLink is not text": {"the next page is unknown", `{"value":[{"name":"a"}],"nextLink":7}`, 0, nil, client.CodeInvalidAnswer,
			arm.ClassRetry},
		"broken in the middle": {"the elements are incomplete", `{"value":[` + broken, 100_000, nil, client.CodeConnectionFailed,
			arm.ClassRetry},
		"ends before its close": {"the elements are incomplete, though the server reports no error",
			`{"value":[` + broken, 0, nil, client.CodeConnectionFailed,
			arm.ClassRetry},
	} {
		t.Run(name, func(t *testing.T) {
			c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, _ *http.Request) {
				if tc.length > 0 {
					w.Header().Set("Content-Length", strconv.Itoa(tc.length))
				}
				fmt.Fprint(w, tc.body)
			})
			elements, err := c.List(context.Background(), "/subscriptions/s/resourceGroups", "v", nil)
			var got []string
			for _, element := range elements {
				got = append(got, string(element))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			var failure *arm.Error
			if errors.As(err, &failure) != (tc.code != "") || failure != nil && (failure.Code != tc.code || arm.Classify(err) != tc.class) {
				t.Errorf("%s: want %s, got %v of class %s", tc.reason, tc.code, err, arm.Classify(err))
			}
		})
	}
}
