package facts

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// Caller is the reconciliation for which Azure is read. Functions without a Caller always send a request.
type Caller struct {
	// Client sends the requests, with the identity of the object.
	Client *client.Client
	// Read chooses how old answers may be.
	Read observe.ReadOptions
	// Name identifies the object, "" for none. Input is comparable and determines the questions. If a caller that got an error returns
	// with another input, the object was corrected, and its questions are asked at once.
	Name  string
	Input any
	// Lent is set if Azure is asked as an identity of another namespace.
	Lent bool
}

// scopedKey returns the key of a question in caches: identities do not share answers.
func (a Caller) scopedKey(question string) string { return a.Client.CacheScope() + "|" + question }
