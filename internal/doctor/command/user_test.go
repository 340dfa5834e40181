package command_test

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// userCredential signs in as the owner of the subscription.
type userCredential struct{ *stage }

// GetToken implements azcore.TokenCredential.
func (c userCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.Token(server.DefaultClientID), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// noCredential is that of a computer on which no user is signed in.
type noCredential struct{}

// GetToken implements azcore.TokenCredential.
func (noCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("please run az login")
}
