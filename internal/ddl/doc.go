// Package ddl writes the statements with which a warehouse keeps the tables of a lake.
// Takes: the name of a dialect, the columns in schemas/lake, and the manifest of an export or the address of a lake.
// Gives: SQL: tables with comments and keys, views as of an instant, the load of an export, the registration of Iceberg
// tables. It is pure.
// Keeps: a dialect is one entry of a table. The statements of all dialects have the same names of tables and columns.
// Fails: for a dialect that it does not know, and for what a dialect does not have.
// May change here: another dialect (dialects.go); what is loaded in which order (load.go).
package ddl
