package client

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

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
	// tokenEndpointStatus finds the status of the token endpoint's answer in the text of azidentity's errors.
	tokenEndpointStatus = regexp.MustCompile(`RESPONSE (\d)\d\d`)
)

// tokenError returns the reason why there is no token, with Entra ID's own code. Of the answer it keeps only the description.
func tokenError(err error) *arm.Error {
	var already *arm.Error
	if errors.As(err, &already) {
		return already
	}
	text := err.Error()
	if found := entraErrorCode.FindStringSubmatch(text); found != nil {
		message := found[2]
		for _, mark := range []string{"Trace ID:", "Correlation ID:", "Timestamp:"} {
			message, _, _ = strings.Cut(message, mark)
		}
		return &arm.Error{Status: 401, Code: CodeCredentialsInvalid, Target: truncateText(found[1], maxCode),
			Message: "Entra ID refuses the credentials: " + truncateText(found[1], maxCode) + ": " +
				truncateText(strings.TrimSpace(message), maxMessage)}
	}
	if found := tokenEndpointStatus.FindStringSubmatch(text); found != nil && found[1] == "4" {
		return &arm.Error{Status: 401, Code: CodeCredentialsInvalid, Message: "Entra ID refuses the credentials: " + firstLine(text)}
	}
	return &arm.Error{Code: CodeTokenUnavailable, Message: "no token from Entra ID: " + firstLine(text)}
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
