import { bytes, choice, defaulted, hashText, inGroup, pattern, port, text, urls } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** Flags of snapshots, and of a node that begins with one. */
export const snapshotFlags = inGroup('Snapshots', {
  snapshot: text(
    {
      modes: withExecution,
      secret: 'in URLs',
      doc: 'restore this snapshot at the first start, a directory or the URLs of its mirrors; ignored once --datadir has a chain',
    },
    'DIR|URL[,URL]',
  ),
  'start.block-hash': hashText({
    modes: withExecution,
    doc: 'hash of the block of a snapshot or of an anchored start, for which the operator vouches: compare it with sources of your own',
  }),
  start: defaulted(
    choice(
      {
        modes: withExecution,
        doc: 'first start of an empty --datadir. snapshot: restore --snapshot; anchored: begin with a recent block, and fetch its state from --source.state when it is needed; genesis: derive all blocks; auto: snapshot with --snapshot, else anchored with --source.state, else genesis',
      },
      ['auto', 'snapshot', 'anchored', 'genesis'],
    ),
    'auto',
  ),
  'source.state': urls({
    modes: withExecution,
    secret: true,
    doc: 'nodes of the chain that have what an anchored state lacks, at most eight; each answer is verified',
  }),
  'fill.bandwidth': defaulted(
    bytes({
      modes: withExecution,
      doc: 'bytes a second that the fill of an anchored state reads from --source.state; 0: it is not filled, and the sources stay necessary',
    }),
    16_000_000,
    '16MB',
  ),
  'fill.max-disk': bytes({
    modes: withExecution,
    doc: 'size of the files of the chain above which the fill of an anchored state pauses; default: no limit but --db.min-free',
  }),
  'snapshot.out': text(
    { word: 'out', doc: 'directory of the snapshot; an earlier one in it is extended, and its equal chunks are re-used' },
    'DIR',
  ),
  'snapshot.flavour': defaulted(
    choice(
      {
        word: 'flavour',
        doc: 'minimal: state, headers, newest blocks; full: all blocks with their receipts too; archive: full, with the states of older blocks; proofs: full, with the recorded proofs of older blocks',
      },
      ['minimal', 'full', 'archive', 'proofs'],
    ),
    'minimal',
  ),
  'snapshot.format': defaulted(choice({ word: 'format', doc: "format of another client's snapshot" }, ['reth']), 'reth'),
  'snapshot.key': text(
    { doc: 'file of the ed25519 key that signs the manifest (PEM, mode 0600); created when absent; default DATADIR/snapshot-key.pem' },
    'FILE',
  ),
  'snapshot.signer': pattern(
    {
      word: 'signer',
      doc: 'public key that must have signed the manifest; without it any key is accepted, because the state is verified anyway',
    },
    'HEX',
    '64 hex digits',
    /^[0-9a-f]{64}$/,
  ),
  'snapshot.addr': defaulted(text({ word: 'addr', doc: 'address on which snapshots are served' }, 'ADDRESS'), '127.0.0.1'),
  'snapshot.port': defaulted(port({ word: 'port', doc: 'port on which snapshots are served; 0: any free port' }), 8_590),
})
