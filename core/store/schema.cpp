// SPDX-License-Identifier: GPL-3.0-or-later
// docs/store.md explains the tables.
#include "core/store/schema.hpp"

#include <array>

namespace loadline {
namespace {

constexpr std::string_view kFirst = R"sql(
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('model', 'cluster', 'plan')),
    digest INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX documents_by_digest ON documents (digest);

CREATE TABLE profiles (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('times', 'links')),
    device TEXT NOT NULL,
    driver TEXT NOT NULL,
    versions TEXT NOT NULL,
    measured INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    model TEXT NOT NULL,
    cluster TEXT NOT NULL,
    budget INTEGER,
    step REAL,
    measured_error REAL,
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    removed INTEGER,
    notes TEXT NOT NULL,
    revision INTEGER NOT NULL,
    model_document INTEGER REFERENCES documents (id),
    cluster_document INTEGER REFERENCES documents (id),
    plan_document INTEGER REFERENCES documents (id),
    profile INTEGER REFERENCES profiles (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX sessions_by_date ON sessions (modified);
CREATE INDEX sessions_by_model_document ON sessions (model_document);
CREATE INDEX sessions_by_cluster_document ON sessions (cluster_document);
CREATE INDEX sessions_by_plan_document ON sessions (plan_document);
CREATE INDEX sessions_by_profile ON sessions (profile);

CREATE TABLE session_texts (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    options TEXT NOT NULL,
    undo TEXT NOT NULL,
    window TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (session, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE frontiers (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (session, label)
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('verification', 'imported')),
    started INTEGER NOT NULL,
    ranks INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    why TEXT NOT NULL,
    predicted_step REAL,
    measured_step REAL,
    predicted_peak INTEGER,
    measured_peak INTEGER,
    plan_document INTEGER REFERENCES documents (id),
    result TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_session ON runs (session, started);
CREATE INDEX runs_by_plan_document ON runs (plan_document);

CREATE TABLE step_metrics (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    loss REAL,
    seconds REAL,
    forward REAL,
    backward REAL,
    optimizer REAL,
    exposed REAL,
    peak INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    all_gather INTEGER NOT NULL,
    reduce_scatter INTEGER NOT NULL,
    all_reduce INTEGER NOT NULL,
    PRIMARY KEY (run, step, rank)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array kSteps{kFirst};

constexpr std::string_view kMending = R"sql(
UPDATE sessions SET model_document = NULL WHERE model_document NOT IN (SELECT id FROM documents);
UPDATE sessions SET cluster_document = NULL WHERE cluster_document NOT IN (SELECT id FROM documents);
UPDATE sessions SET plan_document = NULL WHERE plan_document NOT IN (SELECT id FROM documents);
UPDATE sessions SET profile = NULL WHERE profile NOT IN (SELECT id FROM profiles);
INSERT INTO session_texts SELECT id, '{}', '', '' FROM sessions WHERE id NOT IN (SELECT session FROM session_texts);
DELETE FROM session_texts WHERE session NOT IN (SELECT id FROM sessions);
DELETE FROM tags WHERE session NOT IN (SELECT id FROM sessions);
DELETE FROM frontiers WHERE session NOT IN (SELECT id FROM sessions);
DELETE FROM runs WHERE session NOT IN (SELECT id FROM sessions);
UPDATE runs SET plan_document = NULL WHERE plan_document NOT IN (SELECT id FROM documents);
DELETE FROM step_metrics WHERE run NOT IN (SELECT id FROM runs);
)sql";

} // namespace

std::span<const std::string_view> schemaSteps()
{
    return kSteps;
}

std::string_view schemaMending()
{
    return kMending;
}

} // namespace loadline
