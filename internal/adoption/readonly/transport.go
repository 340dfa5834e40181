package readonly

import (
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Transport is a transport that sends only GET and HEAD requests.
type Transport struct {
	// Next sends the requests.
	Next policy.Transporter
}

// Do implements policy.Transporter.
func (r Transport) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return r.Next.Do(request)
	}
	return nil, fmt.Errorf("%s is not sent, because this command only reads", request.Method)
}
