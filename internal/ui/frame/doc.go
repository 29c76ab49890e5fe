// Package frame is what the explorer's pages share: the server, addresses, the as-of control, the layout, the list of statements.
//
// Takes: an asof.Lake; Pages with their templates; HTTP requests.
// Gives: HTML pages that work without a script, and the tables of pages as CSV, JSON and Parquet.
// Keeps: a page is a function of the lake, the instant in its path, and its address; a Live page of the newest state also
// says what is so now. A page gets its answers through Request.Ask, so that they are as of the instant, and that the page lists
// their statements. No value of the data is ever markup. Nothing is written. No page makes a browser ask another host for
// anything.
// Fails: a page, or the section of it, says what could not be answered, with a status; that of a page which has begun is 200.
// May change here: what all pages have; the style and the script.
package frame
