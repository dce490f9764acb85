//! tools/bench/tantivy - the texts and queries of bench-search, indexed and asked by tantivy.
//!     bench-tantivy FOLDER      FOLDER/texts, FOLDER/queries; the index is made in FOLDER/tantivy
use std::fs;
use std::time::Instant;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, Schema, FAST, INDEXED, STORED, TEXT};
use tantivy::{doc, Index, Term};

fn main() -> tantivy::Result<()> {
    let folder = std::env::args().nth(1).expect("a folder");
    let mut schema = Schema::builder();
    let id = schema.add_u64_field("id", INDEXED | FAST | STORED);
    let text = schema.add_text_field("text", TEXT); // with frequencies and positions
    fs::create_dir_all(format!("{folder}/tantivy"))?;
    let index = Index::create_in_dir(format!("{folder}/tantivy"), schema.build())?;
    let mut writer = index.writer_with_num_threads(1, 200_000_000)?;
    let texts = fs::read_to_string(format!("{folder}/texts"))?;
    let began = Instant::now();
    for line in texts.lines() {
        let (number, words) = line.split_once('\t').unwrap();
        writer.add_document(doc!(id => number.parse::<u64>().unwrap(), text => words))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    println!("indexed_s {:.3}", began.elapsed().as_secs_f64());

    let searcher = index.reader()?.searcher();
    let queries = fs::read_to_string(format!("{folder}/queries"))?;
    for (name, words) in [("two", 2), ("one", 1), ("four", 4)] {
        let (mut seconds, mut asked, mut found) = (0.0, 0, 0);
        for line in queries.lines() {
            let terms: Vec<Term> = line.split(' ').take(words).map(|w| Term::from_field_text(text, w)).collect();
            for round in 0..11 {
                let began = Instant::now();
                let each = terms.iter().map(|term| {
                    let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
                    (Occur::Should, Box::new(query) as Box<dyn Query>)
                });
                let query = BooleanQuery::new(each.collect());
                let top = searcher.search(&query, &TopDocs::with_limit(10))?;
                for (_, address) in &top {
                    let document: tantivy::TantivyDocument = searcher.doc(*address)?;
                    found += document.len();
                }
                if round > 0 {
                    seconds += began.elapsed().as_secs_f64();
                    asked += 1;
                }
            }
        }
        assert!(found > 0);
        println!("{name}_ms {:.4}", 1e3 * seconds / asked as f64);
    }
    Ok(())
}
