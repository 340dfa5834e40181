package facts

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// Asker is the reconciliation that questions are asked for. Questions without an Asker are always sent to Azure.
type Asker struct {
	// Client sends the requests, with the identity of the object.
	Client *client.Client
	// Read chooses how old answers may be.
	Read observe.ReadOptions
	// Name identifies the object, "" for none. Input is comparable and determines the questions. If an asker that got an error returns
	// with another input, the object was corrected, and its questions are asked at once.
	Name  string
	Input any
	// Lent is set if Azure is asked as an identity of another namespace.
	Lent bool
}

// scopedKey returns the key of a question in caches: identities do not share answers.
func (a Asker) scopedKey(question string) string { return a.Client.CacheScope() + "|" + question }
