import { blockNumber, defaulted, inGroup, older, onOff, retention, sample, start, text } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const
const daySec = 86_400

/** Flags of recorded proofs for older blocks, and of the commands on them. */
export const proofsHistoryFlags = inGroup('Proofs', {
  'proofs-history': onOff({
    modes: withExecution,
    aliases: older('RETH_HISTORICAL_PROOFS'),
    doc: 'record proofs of all blocks from now on: eth_getProof and witnesses as far back as --proofs-history.window; about 138 kB of disk for a block of 8 Mgas',
  }),
  'proofs-history.window': defaulted(
    retention(
      {
        modes: withExecution,
        aliases: older('CLIENT_PROOFS_HISTORY_WINDOW'),
        doc: 'how far back proofs reach: a time, or a number of blocks, which becomes a time with the block time at the start of the node',
      },
      'b',
    ),
    { sec: 28 * daySec },
    '28d',
  ),
  'proofs.path': text(
    {
      modes: withExecution,
      aliases: older('RETH_HISTORICAL_PROOFS_STORAGE_PATH'),
      doc: 'directory of the database of proofs; {network} in it as in --datadir; default: proofs in --datadir',
    },
    'DIR',
  ),
  'proofs.from': start({ word: 'from', doc: 'first block to have proofs: its number, or a time before the head such as 7d' }),
  'proofs.to': blockNumber({ word: 'to', doc: 'last recorded block that stays' }),
  'proofs.blocks': defaulted(sample({ word: 'blocks', doc: 'number of random recorded blocks to verify; or all' }), 200, '200'),
  'proofs.required': onOff({
    modes: withExecution,
    doc: '/readyz reports a node whose proofs are not recorded, or a minute behind; otherwise the node is ready without them',
  }),
})
