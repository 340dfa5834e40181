package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// classifiedCredential converts the errors of a credential to *arm.Error.
type classifiedCredential struct{ azcore.TokenCredential }

// GetToken implements azcore.TokenCredential.
func (t classifiedCredential) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, options)
	if err == nil || ctx.Err() != nil {
		return token, err
	}
	return token, tokenError(err)
}

var (
	// entraErrorCode finds Entra ID's code and its text up to the trace IDs, in the description that is part of the JSON answer.
	// https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
	entraErrorCode = regexp.MustCompile(`(AADSTS\d+): ((?:[^"\\]|\\[^nr])*)`)
	// oauthErrorCode matches the form of OAuth 2.0's codes. https://www.rfc-editor.org/rfc/rfc6749#section-5.2
	oauthErrorCode = regexp.MustCompile(`^[a-z_]+$`)
)

// tokenError returns the reason why there is no token, with Entra ID's own code. Of the answer it keeps only the description. The status of
// the answer decides whether it is a refusal, because Entra ID has codes for outages and throttling, too; and an answer without a code
// is not from Entra ID, but from a proxy or gateway. The target of such an error is the host that answered.
func tokenError(err error) *arm.Error {
	var already *arm.Error
	if errors.As(err, &already) {
		return already
	}
	code, description := entraAnswer(err.Error())
	oauthCode := ""
	var failed *azidentity.AuthenticationFailedError
	answered := errors.As(err, &failed) && failed.RawResponse != nil
	if answered {
		if oauthCode, description = oauthAnswer(failed.RawResponse, description); code == "" {
			code = oauthCode
		}
	}
	text := code
	if description != "" {
		text += ": " + description
	}
	switch {
	case answered && isUnavailable(failed.RawResponse.StatusCode, oauthCode), answered && code == "":
		host := hostOf(failed.RawResponse)
		out := &arm.Error{Code: CodeTokenUnavailable, Target: host,
			Message: fmt.Sprintf("no token from Entra ID: %s answers with status %d", host, failed.RawResponse.StatusCode)}
		if text != "" {
			out.Message += ": " + text
		}
		out.RetryAfter, _ = retryAfter(failed.RawResponse.Header, time.Now())
		return out
	case code != "":
		return &arm.Error{Status: 401, Code: CodeCredentialsInvalid, Target: code, Message: "Entra ID refuses the credentials: " + text}
	}
	return &arm.Error{Code: CodeTokenUnavailable, Message: "no token from Entra ID: " + firstLine(err.Error())}
}

// entraAnswer returns Entra ID's code and description in a text; "" if it has none.
func entraAnswer(text string) (code, description string) {
	found := entraErrorCode.FindStringSubmatch(text)
	if found == nil {
		return "", ""
	}
	description = found[2]
	for _, mark := range []string{"Trace ID:", "Correlation ID:", "Timestamp:"} {
		description, _, _ = strings.Cut(description, mark)
	}
	return truncateText(found[1], maxCode), truncateText(strings.TrimSpace(description), maxMessage)
}

// oauthAnswer returns OAuth 2.0's code in the body of an answer, "" if it has none, and the description of the body if known is "".
func oauthAnswer(answer *http.Response, known string) (code, description string) {
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	payload, err := runtime.Payload(answer)
	if err != nil || json.Unmarshal(payload, &body) != nil || !oauthErrorCode.MatchString(body.Error) {
		return "", known
	}
	if known == "" {
		known = firstLine(body.Description)
	}
	return truncateText(body.Error, maxCode), known
}

// isUnavailable reports whether an answer means that the token endpoint cannot answer now. oauthCode is the code of its body.
// https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes#handling-error-codes-in-your-application
func isUnavailable(status int, oauthCode string) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500 ||
		oauthCode == "temporarily_unavailable" || oauthCode == "server_error"
}

// hostOf returns the host that sent an answer, without the port.
func hostOf(answer *http.Response) string {
	if answer.Request == nil || answer.Request.URL == nil {
		return "the token endpoint"
	}
	return answer.Request.URL.Hostname()
}

// EntraRefusal returns Entra ID's answer, and whether it refused the credential. An error without an answer is no refusal.
func EntraRefusal(err error) (answer string, refused bool) {
	found := tokenError(err)
	return found.Message, found.Code == CodeCredentialsInvalid
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return truncateText(strings.TrimSpace(line), maxMessage)
}
