//! kubectl's columns: lists and watches that are asked for as tables of the server.
//!
//! A server that offers tables (`as=Table`) sends each object with the cells that kubectl prints for it. [`Tables::client`] stands
//! between an informer's source and the server: it asks for tables with whole objects in them (`includeObject=Object`), and
//! makes of the answer the list or the watch that the source would have got, whose objects have one more member, [`ROW`], for their
//! cells. So the informer is the same with and without tables.
//!
//! # Without tables
//! A server that does not offer tables answers with plain objects, which are passed on as they are, or with 406. After a 406, and
//! after a table without whole objects, nothing is asked for as a table again. A kube-apiserver has tables in JSON only: for one in
//! protobuf it answers 406, whatever the resource.
//!
//! # Memory
//! A list is rewritten as it arrives: at most one row is held, and what comes before the first one.

use bytes::{Buf as _, Bytes, BytesMut};
use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use kube::Client;
use kube::client::Body;
use kube::core::DynamicObject;
use kube_informer::low_level::wire::DEFAULT_MAX_OBJECT_SIZE;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// The member of an object that holds its cells, behind the number of their columns.
const ROW: &str = "kubectl-informer/row";
/// What plain objects are asked for with.
const PLAIN: &str = "application/json";
const TABLE: HeaderValue =
    HeaderValue::from_static("application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
/// The most sets of columns that are remembered of a resource. There is a new one only when a custom resource gets other columns.
const MOST_COLUMNS: usize = 32;
/// The most bytes of one row, or of what comes before the first one.
const MOST_OF_PART: usize = DEFAULT_MAX_OBJECT_SIZE + (1 << 20);

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// Only columns of priority 0 are shown by default.
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    format: String,
}

impl Column {
    /// Whether it is shown only in a wide table.
    pub(super) fn is_wide(&self) -> bool {
        self.priority != 0
    }

    /// Whether its cells are the names of the objects.
    pub(super) fn is_name(&self) -> bool {
        self.format == "name"
    }
}

/// The cells of an object.
pub(super) struct Row {
    pub(super) columns: Arc<[Column]>,
    pub(super) cells: Vec<String>,
}

/// The tables of one resource.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The server has shown that it does not offer them.
    missing: AtomicBool,
    /// All columns so far; rows name theirs by number.
    columns: Mutex<Vec<Arc<[Column]>>>,
}

impl Tables {
    /// A client whose lists and watches are those of `client`, with cells if the server offers tables.
    pub(super) fn client(self: &Arc<Self>, client: Client) -> Client {
        let tables = self.clone();
        let service = tower::service_fn(move |request| {
            let (tables, client) = (tables.clone(), client.clone());
            async move { tables.send(&client, request).await }
        });
        Client::new(service, "")
    }

    /// The cells of an object that has some.
    pub(super) fn row(&self, object: &DynamicObject) -> Option<Row> {
        let row = object.data.get(ROW)?;
        let number = usize::try_from(row.get(0)?.as_u64()?).ok()?;
        let cells = row.get(1)?.as_array()?;
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Row {
            columns: columns.get(number)?.clone(),
            cells: cells.iter().map(text).collect(),
        })
    }

    /// The number of these columns.
    fn number(&self, columns: Vec<Column>) -> usize {
        let mut known = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.iter().position(|known| **known == *columns) {
            return number;
        }
        if known.len() == MOST_COLUMNS {
            known.pop();
        }
        known.push(columns.into());
        known.len() - 1
    }

    async fn send(
        self: Arc<Self>,
        client: &Client,
        request: Request<Body>,
    ) -> Result<Response<AnyBody>, kube::Error> {
        let unchanged = |response: Response<Body>| response.map(|body| body.map_err(cause).boxed_unsync());
        let is_plain = request
            .headers()
            .get(ACCEPT)
            .is_some_and(|accept| accept == PLAIN);
        let Some(uri) =
            with_objects(request.uri()).filter(|_| is_plain && !self.missing.load(Ordering::Relaxed))
        else {
            return Ok(unchanged(client.send(request).await?));
        };
        let (plain, body) = request.into_parts();
        let mut parts = plain.clone();
        parts.uri = uri;
        parts.headers.insert(ACCEPT, TABLE);
        let mut response = client.send(Request::from_parts(parts, body)).await?;
        // What is compressed cannot be rewritten; nobody has asked for that.
        let is_compressed = response.headers().contains_key(CONTENT_ENCODING);
        if response.status() == StatusCode::NOT_ACCEPTABLE || is_compressed {
            self.missing.store(true, Ordering::Relaxed);
            let plain = Request::from_parts(plain, Body::empty());
            return Ok(unchanged(client.send(plain).await?));
        }
        if response.status() != StatusCode::OK {
            return Ok(unchanged(response));
        }
        response.headers_mut().remove(CONTENT_LENGTH);
        let is_watch = plain.uri.query().is_some_and(|query| {
            form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "watch" && value == "true")
        });
        let rewriter: Box<dyn Rewrite> = match is_watch {
            true => Box::new(Watch::new(self)),
            false => Box::new(List::new(self)),
        };
        Ok(response.map(|body| rewritten(body, rewriter)))
    }
}

/// The address of the same list or watch, with whole objects in its tables.
fn with_objects(uri: &Uri) -> Option<Uri> {
    let separator = if uri.query().is_some() { '&' } else { '?' };
    format!("{uri}{separator}includeObject=Object").parse().ok()
}

/// A cell as kubectl prints it: the first line of a text, and nothing for null.
fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => match text.split_once(['\n', '\r', '\u{c}']) {
            Some((first, _)) => format!("{first}..."),
            None => text.clone(),
        },
        cell => cell.to_string(),
    }
}

/// Takes the cells off an object.
pub(super) fn remove_row(object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        members.remove(ROW);
    }
}

/// Rewrites a body as it arrives.
trait Rewrite: Send {
    /// Takes the next chunk, and returns what follows from it.
    fn chunk(&mut self, chunk: Bytes) -> Result<Bytes, BoxError>;

    /// What is left at the end.
    fn end(&mut self) -> Bytes;
}

fn rewritten(body: Body, rewriter: Box<dyn Rewrite>) -> AnyBody {
    let chunks = body.into_data_stream().map_err(cause).map_ok(Some);
    // One more item, so that what is left is passed on.
    let chunks = chunks.chain(futures::stream::iter([Ok(None)]));
    let chunks = chunks.scan(rewriter, |rewriter, chunk| {
        let rewritten = match chunk {
            Ok(Some(chunk)) => rewriter.chunk(chunk),
            Ok(None) => Ok(rewriter.end()),
            Err(error) => Err(error),
        };
        futures::future::ready(Some(rewritten.map(Frame::data)))
    });
    StreamBody::new(chunks).boxed_unsync()
}

/// The error without the client's wrapper, which the other client puts around it again.
fn cause(error: kube::Error) -> BoxError {
    match error {
        kube::Error::Service(cause) => cause,
        error => error.into(),
    }
}

/// Where one is in the text of JSON.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Scan {
    /// Goes over a byte.
    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.string => self.escaped = true,
            b'"' => self.string = !self.string,
            _ if self.string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether it is between values, or at the end of one that is an object or array.
    fn is_outside(&self) -> bool {
        self.depth == 0 && !self.string
    }
}

/// A row as the server sends it.
#[derive(Deserialize)]
struct SentRow<'a> {
    #[serde(borrow)]
    cells: &'a RawValue,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
}

/// What the rows of one answer are to be told apart by.
struct Rows {
    tables: Arc<Tables>,
    /// The number of their columns.
    columns: Option<usize>,
}

impl Rows {
    fn of(tables: Arc<Tables>) -> Self {
        Self {
            tables,
            columns: None,
        }
    }

    /// Takes the columns of a table, which need not repeat those of the one before.
    fn take_columns(&mut self, columns: Option<Vec<Column>>) {
        if let Some(columns) = columns.filter(|columns| !columns.is_empty()) {
            self.columns = Some(self.tables.number(columns));
        }
    }

    /// Writes the object of a row, with its cells.
    fn write(&self, row: &SentRow<'_>, out: &mut Vec<u8>) -> Result<(), BoxError> {
        let object = row.object.map(RawValue::get).filter(|object| {
            let kind = serde_json::from_str::<Kind<'_>>(object);
            kind.is_ok_and(|of| of.kind.as_deref() != Some("PartialObjectMetadata"))
        });
        let members = object.and_then(|object| object.strip_prefix('{'));
        let Some(members) = members else {
            self.tables.missing.store(true, Ordering::Relaxed);
            return Err("the server's tables have no whole objects; from now on without tables".into());
        };
        out.push(b'{');
        if let Some(number) = self.columns {
            let row = format!("{ROW:?}:[{number},{}]", row.cells.get());
            out.extend_from_slice(row.as_bytes());
            if !members.trim_start().starts_with('}') {
                out.push(b',');
            }
        }
        out.extend_from_slice(members.as_bytes());
        Ok(())
    }
}

/// A list whose table is rewritten.
struct List {
    rows: Rows,
    place: Place,
    scan: Scan,
    /// The text since what was passed on.
    part: BytesMut,
    /// How much of it was gone over.
    at: usize,
    /// The last string at the top of the list.
    name: Range<usize>,
}

/// The part of a list.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Before the rows.
    Head,
    /// Before the bracket that opens them.
    Opening,
    Rows,
    /// All that is passed on as it is: what follows the rows, or no table at all.
    Rest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    column_definitions: Option<Vec<Column>>,
}

impl List {
    fn new(tables: Arc<Tables>) -> Self {
        Self {
            rows: Rows::of(tables),
            place: Place::Head,
            scan: Scan::default(),
            part: BytesMut::new(),
            at: 0,
            name: 0..0,
        }
    }

    /// Goes over the next byte.
    fn step(&mut self, out: &mut Vec<u8>) -> Result<(), BoxError> {
        let byte = self.part[self.at];
        self.at += 1;
        match self.place {
            Place::Head => self.step_in_head(byte, out),
            Place::Opening => {
                self.pass_on(out);
                self.place = match byte {
                    b'[' => Place::Rows,
                    byte if byte.is_ascii_whitespace() => Place::Opening,
                    _ => Place::Rest,
                };
                self.scan = Scan::default();
            }
            Place::Rows => {
                self.scan.step(byte);
                match byte {
                    _ if !self.scan.is_outside() => {}
                    b'}' => {
                        let row = self.part.split_to(std::mem::take(&mut self.at));
                        let row = serde_json::from_slice(&row)
                            .map_err(|_| "a row of the server's table cannot be read")?;
                        self.rows.write(&row, out)?;
                    }
                    _ => {
                        self.pass_on(out);
                        if byte == b']' {
                            self.place = Place::Rest;
                        }
                    }
                }
            }
            Place::Rest => {}
        }
        Ok(())
    }

    fn step_in_head(&mut self, byte: u8, out: &mut Vec<u8>) {
        let was_string = self.scan.string;
        self.scan.step(byte);
        if self.scan.depth != 1 {
            return;
        }
        match (was_string, self.scan.string) {
            (false, true) => self.name = self.at..self.at,
            (true, false) => self.name.end = self.at - 1,
            (false, false) if byte == b':' => match &self.part[self.name.clone()] {
                b"rows" => self.begin_rows(out),
                b"items" => self.place = Place::Rest,
                _ => {}
            },
            _ => {}
        }
    }

    /// At the name of the rows: they become the items of a list.
    fn begin_rows(&mut self, out: &mut Vec<u8>) {
        let before = self.part[..self.name.start - 1].trim_ascii_end();
        let before = before.strip_suffix(b",").unwrap_or(before);
        let head = serde_json::from_slice::<Head>(&[before, b"}"].concat());
        self.rows
            .take_columns(head.ok().and_then(|head| head.column_definitions));
        out.extend_from_slice(&self.part[..self.name.start]);
        out.extend_from_slice(b"items");
        self.part.advance(self.name.end);
        self.at -= self.name.end;
        self.pass_on(out);
        self.place = Place::Opening;
    }

    /// Passes on as it is what was gone over.
    fn pass_on(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.part.split_to(std::mem::take(&mut self.at)));
    }
}

impl Rewrite for List {
    fn chunk(&mut self, chunk: Bytes) -> Result<Bytes, BoxError> {
        if let Place::Rest = self.place {
            return Ok(chunk);
        }
        let mut out = Vec::with_capacity(chunk.len());
        self.part.extend_from_slice(&chunk);
        while self.at < self.part.len() && !matches!(self.place, Place::Rest) {
            self.step(&mut out)?;
        }
        if let Place::Rest = self.place {
            out.extend_from_slice(&self.end());
        }
        check(self.part.len())?;
        Ok(out.into())
    }

    fn end(&mut self) -> Bytes {
        self.at = 0;
        self.part.split().freeze()
    }
}

/// A watch, each of whose events has a table.
struct Watch {
    rows: Rows,
    scan: Scan,
    /// The event so far.
    part: Vec<u8>,
}

#[derive(Deserialize)]
struct SentEvent<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentTable<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metadata: &'a RawValue,
    column_definitions: Option<Vec<Column>>,
    #[serde(borrow)]
    rows: Option<Vec<SentRow<'a>>>,
}

impl Watch {
    fn new(tables: Arc<Tables>) -> Self {
        Self {
            rows: Rows::of(tables),
            scan: Scan::default(),
            part: Vec::new(),
        }
    }

    /// Writes an event, or several if its table has several rows. What is no table is passed on as it is.
    fn event(&mut self, out: &mut Vec<u8>) -> Result<(), BoxError> {
        let part = std::mem::take(&mut self.part);
        let sent = serde_json::from_slice::<SentEvent<'_>>(&part);
        let table = sent.and_then(|event| Ok((event.r#type, serde_json::from_str(event.object.get())?)));
        let Some((of, table)) = table
            .ok()
            .filter(|(_, table): &(_, SentTable<'_>)| table.kind == "Table")
        else {
            out.extend_from_slice(&part);
            return Ok(());
        };
        self.rows.take_columns(table.column_definitions);
        let rows = table.rows.unwrap_or_default();
        if of == "BOOKMARK" {
            let object = rows.first().and_then(|row| row.object).map(RawValue::get);
            let object = match object {
                Some(object) => object.to_owned(),
                None => format!(r#"{{"metadata":{}}}"#, table.metadata.get()),
            };
            out.extend_from_slice(format!(r#"{{"type":"BOOKMARK","object":{object}}}"#).as_bytes());
            return Ok(());
        }
        for row in &rows {
            out.extend_from_slice(format!(r#"{{"type":{},"object":"#, Value::from(&*of)).as_bytes());
            self.rows.write(row, out)?;
            out.push(b'}');
        }
        match rows.is_empty() {
            true => Err("the server's table of an event has no row".into()),
            false => Ok(()),
        }
    }
}

impl Rewrite for Watch {
    fn chunk(&mut self, chunk: Bytes) -> Result<Bytes, BoxError> {
        let mut out = Vec::with_capacity(chunk.len());
        let mut from = 0;
        for (at, byte) in chunk.iter().enumerate() {
            self.scan.step(*byte);
            if self.scan.is_outside() {
                self.part.extend_from_slice(&chunk[from..=at]);
                from = at + 1;
                match byte {
                    b'}' => self.event(&mut out)?,
                    _ => out.append(&mut self.part),
                }
            }
        }
        self.part.extend_from_slice(&chunk[from..]);
        check(self.part.len())?;
        Ok(out.into())
    }

    fn end(&mut self) -> Bytes {
        std::mem::take(&mut self.part).into()
    }
}

/// Refuses a row or event that never ends.
fn check(length: usize) -> Result<(), BoxError> {
    match length > MOST_OF_PART {
        true => Err(format!("a part of the server's table has more than {MOST_OF_PART} bytes").into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What is made of a body in chunks of any size, with the tables that it has.
    fn rewrite(body: &str, new: impl Fn(Arc<Tables>) -> Box<dyn Rewrite>) -> (String, Arc<Tables>) {
        let rewritten = |size: usize| {
            let tables = Arc::new(Tables::default());
            let mut rewriter = new(tables.clone());
            let mut out = Vec::new();
            for chunk in body.as_bytes().chunks(size) {
                out.extend_from_slice(&rewriter.chunk(Bytes::copy_from_slice(chunk)).unwrap());
            }
            out.extend_from_slice(&rewriter.end());
            (String::from_utf8(out).unwrap(), tables)
        };
        let (whole, tables) = rewritten(body.len());
        for size in 1..body.len() {
            assert_eq!(rewritten(size).0, whole, "chunks of {size} bytes");
        }
        (whole, tables)
    }

    fn list(body: &str) -> (String, Arc<Tables>) {
        rewrite(body, |tables| Box::new(List::new(tables)))
    }

    fn watch(body: &str) -> (String, Arc<Tables>) {
        rewrite(body, |tables| Box::new(Watch::new(tables)))
    }

    /// The columns and cells of an object.
    fn cells(tables: &Tables, object: &Value) -> Option<Vec<(String, String)>> {
        let object = serde_json::from_value(object.clone()).unwrap();
        let row = tables.row(&object)?;
        let names = row.columns.iter().map(|column| column.name.clone());
        Some(names.zip(row.cells).collect())
    }

    fn pair(name: &str, cell: &str) -> (String, String) {
        (name.to_owned(), cell.to_owned())
    }

    #[test]
    fn a_table_becomes_a_list_of_objects_with_cells() {
        let body = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","continue":"rows"},
            "columnDefinitions":[{"name":"Name","format":"name","priority":0},{"name":"rows","priority":1}], "rows" : [
            {"cells":["a",null],"object":{"kind":"Pod","metadata":{"name":"a","labels":{"x":"}]\\\"{"}}}} ,
            {"cells":["b",3],"object":{"kind":"Pod","metadata":{"name":"b"}}}]}
        "#;
        let (rewritten, tables) = list(body);
        let list: Value = serde_json::from_str(&rewritten).unwrap();
        assert_eq!(
            list["metadata"],
            json!({"resourceVersion": "7", "continue": "rows"})
        );
        let items = list["items"].as_array().unwrap();
        assert_eq!(
            cells(&tables, &items[0]).unwrap(),
            [pair("Name", "a"), pair("rows", "")]
        );
        assert_eq!(
            cells(&tables, &items[1]).unwrap(),
            [pair("Name", "b"), pair("rows", "3")]
        );
        let mut object = items[0].clone();
        remove_row(&mut object);
        assert_eq!(
            object,
            json!({"kind": "Pod", "metadata": {"name": "a", "labels": {"x": "}]\\\"{"}}})
        );
    }

    #[test]
    fn what_is_no_table_is_left_as_it_is() {
        for body in [
            r#"{"kind":"PodList","metadata":{"rows":[{}]},"items":[{"metadata":{"name":"a"},"rows":[{"cells":[]}]}]}"#,
            r#"{"kind":"Status","code":500}"#,
            "<html>",
            "}}]",
        ] {
            assert_eq!(list(body).0, body);
            assert_eq!(watch(body).0, body);
        }
        let (rewritten, _) = list(r#"{"kind":"Table","metadata":{},"rows":null}"#);
        assert_eq!(rewritten, r#"{"kind":"Table","metadata":{},"items":null}"#);
    }

    #[test]
    fn events_keep_the_columns_of_the_first_one() {
        let table = |columns: Value, cell: &str| {
            json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "7"},
                "columnDefinitions": columns,
                "rows": [{"cells": [cell], "object": {"kind": "Pod", "metadata": {"name": cell}}}],
            })
        };
        let columns =
            json!([{"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}]);
        let status = json!({"type": "ERROR", "object": {"kind": "Status", "metadata": {}, "code": 410}});
        let body = [
            json!({"type": "ADDED", "object": table(columns, "a")}),
            json!({"type": "DELETED", "object": table(Value::Null, "b\nc")}),
            json!({"type": "BOOKMARK", "object": table(Value::Null, "")}),
            json!({"type": "BOOKMARK", "object": {"kind": "Table", "metadata": {"resourceVersion": "8"}, "rows": []}}),
            status.clone(),
        ];
        let body = body.map(|event| event.to_string()).join("\n");
        let (rewritten, tables) = watch(&body);
        let events: Vec<Value> = rewritten
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            (&events[0]["type"], &events[1]["type"]),
            (&json!("ADDED"), &json!("DELETED"))
        );
        assert_eq!(cells(&tables, &events[0]["object"]).unwrap(), [pair("Name", "a")]);
        assert_eq!(
            cells(&tables, &events[1]["object"]).unwrap(),
            [pair("Name", "b...")]
        );
        assert_eq!(events[2]["object"]["metadata"]["name"], "");
        assert_eq!(events[3]["object"]["metadata"]["resourceVersion"], "8");
        assert_eq!(events[4], status);
    }

    #[test]
    fn tables_without_objects_are_given_up() {
        for object in [
            "null",
            r#"{"kind":"PartialObjectMetadata","metadata":{"name":"a"}}"#,
        ] {
            let body =
                format!(r#"{{"kind":"Table","metadata":{{}},"rows":[{{"cells":["a"],"object":{object}}}]}}"#);
            let tables = Arc::new(Tables::default());
            let error = List::new(tables.clone()).chunk(body.clone().into()).unwrap_err();
            assert!(error.to_string().contains("no whole objects"), "{error}");
            assert!(tables.missing.load(Ordering::Relaxed));
            let event = format!(r#"{{"type":"ADDED","object":{body}}}"#);
            assert!(Watch::new(tables).chunk(event.into()).is_err());
        }
    }

    #[test]
    fn columns_that_keep_changing_are_not_kept() {
        let tables = Tables::default();
        for number in 0..2 * MOST_COLUMNS {
            let columns = json!([{"name": number.to_string()}]);
            tables.number(serde_json::from_value(columns).unwrap());
        }
        assert_eq!(tables.columns.lock().unwrap().len(), MOST_COLUMNS);
    }
}
