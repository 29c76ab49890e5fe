package quote

// Once returns a statement, and the value of its parameter, with the answer of one SELECT statement that has no parameters. DuckDB plans it once.
// database/sql prepares each statement, and DuckDB plans a prepared statement again when it runs if it reads files, because these may
// have changed, or if it has parameters. Of query() it can plan nothing before it has the text. A plan of a lake's views takes
// milliseconds for each table. If the statement gives two columns one name, the second gets another.
func Once(query string) (statement string, value any) { return "FROM query($1)", query }
