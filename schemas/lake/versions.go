package lake

// DealVersions is the name of the table that contains every version of every deal with its payload.
const DealVersions = "deal_versions"

// The kinds of change that a version can be.
const (
	Added      = "added"
	Changed    = "changed"
	Removed    = "removed"
	Reappeared = "reappeared"
)

// The reasons of a removal.
const (
	ReasonGone             = "gone"
	ReasonPriced           = "priced"
	ReasonOutOfEntitlement = "out_of_entitlement"
)

// HashVersion is the version of the canonical form from which content_hash is computed.
const HashVersion = 1

// DealVersionColumns returns the columns of history/deal_versions, in order. The caller owns the
// slice.
func DealVersionColumns() []Column {
	return []Column{
		{Number: 1, Name: "service", Type: Text, NotNull: true, Doc: "bond or loan."},
		{Number: 2, Name: "market", Type: Text, NotNull: true, Doc: "Market of the feed: IG, HY, EM, LL, CF or AF."},
		{Number: 3, Name: "kind", Type: Text, NotNull: true, Doc: "priced or expected."},
		{Number: 4, Name: "deal_id", Type: Int64, Distinct: true, NotNull: true, Doc: "The source's id of the deal; unique only within service, market and kind."},
		{Number: 5, Name: "version", Type: Int32, NotNull: true, Doc: "Version of the deal: 1, 2, 3 and so on. A removal is a version too, and so is a reappearance."},
		{Number: 6, Name: "change", Type: Text, NotNull: true, Doc: "added, changed, removed or reappeared."},
		{Number: 7, Name: "reason", Type: Text, Doc: "Why a deal was removed: gone, priced or out_of_entitlement."},
		{Number: 8, Name: "known_at", Type: Timestamp, NotNull: true, Doc: "Instant of the commit that added the version."},
		{Number: 9, Name: "observed_at", Type: Timestamp, Distinct: true, NotNull: true, Doc: "When the response with this version arrived."},
		{Number: 10, Name: "run_id", Type: Text, NotNull: true, Doc: "The run that added the version: a UUIDv7."},
		{Number: 11, Name: "content_hash", Type: Hash, Distinct: true, Doc: "SHA-256 of the canonical form; NULL for a removal."},
		{Number: 12, Name: "hash_version", Type: Int32, NotNull: true, Doc: "Version of the rules of the canonical form."},
		{Number: 13, Name: "payload_hash", Type: Hash, Distinct: true, Doc: "SHA-256 of the payload's bytes; NULL for a removal."},
		{Number: 14, Name: "schema_version", Type: Int32, NotNull: true, Doc: "Schema version under which the payload was last flattened."},
		{Number: 15, Name: "source_updated_at", Type: Timestamp, Distinct: true, Doc: "Instant in the record's updatedSince link when the version was first received."},
		{Number: 16, Name: "updated_since_href", Type: Text, Distinct: true, Doc: "The record's updatedSince link, relative to the API's base URL."},
		{Number: 17, Name: "payload", Type: Text, Distinct: true, Doc: "The payload: the record's bytes as first received for this version; NULL for a removal."},
	}
}

// Digest is a SHA-256 hash.
type Digest [32]byte

// LatestVersion is the lake's knowledge of a deal's latest version: enough to decide whether a payload is a change, and small
// enough to keep in memory for every deal ever seen.
type LatestVersion struct {
	Version     int32
	Removed     bool
	ContentHash Digest // hash of the latest content; a removal does not change it
	PayloadHash Digest // hash of the latest payload; a removal does not change it
}

// Latest maps deal_id to the latest version known, for one feed. Removed deals remain in it, because their version
// numbers continue when they reappear.
type Latest map[int64]LatestVersion
