fn main() {
    for path in std::env::args().skip(1) {
        let path = std::path::PathBuf::from(path);
        let Some(f) = baton_transcripts::detect(&path) else { println!("{path:?}: unknown"); continue };
        println!("== {path:?} {}", f.id());
        let found = baton_transcripts::Found::at(f.id(), &path).unwrap();
        println!("{:#?}", f.header(&found));
        let report = f.read(&path, &mut |e| println!("{} {:?} {}", e.place.line, e.agent, { let s=format!("{:?}", e.what); s.chars().take(220).collect::<String>() }));
        println!("{report:?}");
    }
}
