package plan

import (
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DescribeUnknownSize returns the message about a VM size that a region does not have. similar are the most similar names.
func DescribeUnknownSize(region string, similar []string) string {
	out := fmt.Sprintf("region %s does not have this VM size. ", region)
	if len(similar) > 0 {
		out += "Similar sizes are " + strings.Join(similar, ", ") + ". "
	}
	return out + "To list all sizes, run: az vm list-skus --location " + arm.ShellQuote(region)
}
