//! Queries with azure_data_cosmos: the table of ../queries.json, as it comes and by pages of two.

use crate::{fresh, must, Count, Outcome};
use azure_data_cosmos::clients::{ContainerClient, DatabaseClient};
use azure_data_cosmos::models::{ContainerProperties, PartitionKeyValue, ThroughputProperties};
use azure_data_cosmos::options::{CreateContainerOptions, MaxItemCountHint, QueryOptions};
use azure_data_cosmos::{CosmosClient, FeedScope, PartitionKey, Query};
use futures::TryStreamExt;
use serde_json::Value;
use std::collections::HashMap;
use std::num::NonZeroU32;

const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// What this SDK says of what it cannot do itself over several ranges; the server is not asked then.
const CANNOT: [&str; 2] = ["ClientOrderByComplexValueUnsupported", "ClientBufferedQueryRequiresFiniteWindow"];

/// It does not know these by its own word, so the server makes no plan of them.
const UNKNOWN: [&str; 7] = ["COUNT(", "SUM(", "AVG(", "MIN(", "MAX(", "GROUP BY", "ORDER BY RANK"];

struct Suite {
    table: Value,
    containers: HashMap<&'static str, ContainerClient>,
}

/// Text that is the same for values that are: numbers to twelve digits, members by name.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:.11e}", number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut parts: Vec<_> = members.iter().map(|(name, one)| format!("{name:?}:{}", canonical(one))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

/// An item as it was before the server added to it, or another row as it is.
fn plain(mut row: Value) -> Value {
    if let Some(members) = row.as_object_mut() {
        SYSTEM.iter().for_each(|name| drop(members.remove(*name)));
    }
    row
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The entry's key, or the first values of it; without one, every key.
fn scope_of(entry: &Value) -> Outcome<FeedScope> {
    let parts: Vec<_> = list(&entry["key"]).iter().filter_map(|one| one.as_str().map(String::from)).collect();
    if parts.is_empty() {
        return Ok(FeedScope::full_container());
    }
    let values: Vec<_> = parts.into_iter().map(PartitionKeyValue::from).collect();
    Ok(FeedScope::partition(PartitionKey::try_from(values)?))
}

fn is_left_out(entry: &Value, text: &str) -> bool {
    let query = entry["query"].as_str().unwrap_or_default();
    CANNOT.iter().any(|one| text.contains(one))
        || text.contains("which the calling client does not support") && UNKNOWN.iter().any(|one| query.contains(one))
}

impl Suite {
    fn query_of(&self, entry: &Value) -> Outcome<Query> {
        let mut query = Query::from(entry["query"].as_str().ok_or("an entry without a query")?);
        for one in list(&entry["parameters"]) {
            query = query.with_parameter(one["name"].as_str().unwrap_or_default().to_string(), one["value"].clone())?;
        }
        Ok(query)
    }

    async fn rows(&self, entry: &Value, place: &str, size: u32) -> Outcome<azure_data_cosmos::Result<Vec<Value>>> {
        let limit = NonZeroU32::new(size).map(MaxItemCountHint::Limit);
        let options = limit.map(|limit| QueryOptions::default().with_max_item_count(limit));
        let answer = self.containers[place].query_items::<Value>(self.query_of(entry)?, scope_of(entry)?, options).await;
        Ok(match answer {
            Ok(rows) => rows.try_collect().await,
            Err(error) => Err(error),
        })
    }

    fn check(&self, entry: &Value, rows: Vec<Value>) -> Outcome<()> {
        if let Some(count) = entry["count"].as_u64() {
            return must(rows.len() as u64 == count, &format!("{count} rows, and not {}", rows.len()));
        }
        let wanted = if entry["rows"] == "items" { &self.table["items"] } else { &entry["rows"] };
        let mut expected: Vec<_> = list(wanted).iter().map(canonical).collect();
        let mut found: Vec<_> = rows.into_iter().map(|row| canonical(&plain(row))).collect();
        if entry["ordered"] != true {
            expected.sort();
            found.sort();
        }
        must(found == expected, &format!("\n found    {found:?}\n expected {expected:?}"))
    }

    /// None: this SDK leaves it out.
    async fn answer(&self, entry: &Value, place: &str, size: u32) -> Option<Outcome<()>> {
        let answer = match self.rows(entry, place, size).await {
            Ok(answer) => answer,
            Err(problem) => return Some(Err(problem)),
        };
        let text = answer.as_ref().err().map(ToString::to_string).unwrap_or_default();
        if is_left_out(entry, &text) {
            return None;
        }
        let error = &entry["error"];
        Some(match answer {
            Ok(rows) if error.is_null() => self.check(entry, rows),
            Err(problem) if error.is_null() => Err(problem.into()),
            answer => {
                let message = error["message"].as_str().unwrap_or_default();
                crate::refused(error["status"].as_u64().unwrap_or(0) as u16, answer)
                    .and_then(|()| must(text.contains(message), &format!("{message} in {text}")))
            }
        })
    }

    async fn fill(
        &mut self, database: &DatabaseClient, id: &'static str, definition: &Value, levels: usize, throughput: u64,
    ) -> Outcome<()> {
        let mut definition = definition.clone();
        definition["id"] = id.into();
        let definition: ContainerProperties = serde_json::from_value(definition)?;
        let options = CreateContainerOptions::default().with_throughput(ThroughputProperties::manual(throughput));
        database.create_container(definition, Some(options)).await?;
        let container = database.container_client(id, None).await?;
        for item in list(&self.table["items"]) {
            let of = |name: &str| item[name].as_str().unwrap_or_default().to_string();
            let values: Vec<PartitionKeyValue> = vec![of("planet").into(), of("id").into()];
            let key = PartitionKey::try_from(values[..levels].to_vec())?;
            container.create_item(key, &of("id"), item, None).await?;
        }
        self.containers.insert(id, container);
        Ok(())
    }

    async fn prepare(&mut self, database: &DatabaseClient) -> Outcome<()> {
        let (usual, levels) = (self.table["definition"].clone(), self.table["levels"].clone());
        self.fill(database, "one", &usual, 1, 400).await?;
        self.fill(database, "three", &usual, 1, 30000).await?;
        self.fill(database, "levels", &levels, 2, 30000).await
    }
}

pub async fn run(client: &CosmosClient, count: &mut Count) -> Outcome<()> {
    let table = serde_json::from_str(&std::fs::read_to_string(std::env::var("ORRERY_QUERIES")?)?)?;
    let mut suite = Suite { table, containers: HashMap::new() };
    let name = fresh("queries");
    client.create_database(&name, None).await?;
    let database = client.database_client(name.clone());
    suite.prepare(&database).await?;
    for entry in list(&suite.table["queries"]) {
        let places = if entry["container"].is_string() { vec!["levels"] } else { vec!["one", "three"] };
        for place in places {
            for size in [0, 2] {
                let name = format!("{} of {place}, by pages of {size}", entry["name"]);
                if let Some(outcome) = suite.answer(entry, place, size).await {
                    count.add(&name, outcome);
                }
            }
        }
    }
    database.delete(None).await?;
    Ok(())
}
