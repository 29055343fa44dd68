import { addresses, addressText, amount, defaulted, type FlagSpec, hexText, inGroup, integer, pattern } from '../../flagSpec.ts'

const blockPattern = /^(?:latest|pending|safe|finalized|earliest|\d{1,15}|0x[0-9a-f]{1,13}|0x[0-9a-f]{64})$/i
const blockForm = 'a block: a number, a hash, latest, pending, safe, finalized or earliest'
const block = (doc: string, word: string): FlagSpec<string> => pattern({ doc, word }, 'BLOCK', blockForm, blockPattern)

/** Flags of the commands that look up blocks, transactions and accounts of a running node. */
export const lookupFlags = inGroup(
  'Running node',
  {
    'lookup.block': defaulted(block('block whose state is read', 'block'), 'latest'),
    'lookup.from': addressText({ word: 'from', doc: 'sender of the call; default: the zero address' }),
    'lookup.value': amount({ word: 'value', doc: 'value of the call: 1.5ether, 20gwei, or wei; default 0' }),
    'lookup.data': hexText({ word: 'data', doc: 'calldata; default: none' }),
    'logs.from-block': defaulted(block('first block of the range', 'from-block'), 'latest'),
    'logs.to-block': defaulted(block('last block of the range', 'to-block'), 'latest'),
    'logs.address': addresses({ word: 'address', doc: 'contracts whose logs are printed; default: all' }),
    'logs.topics': pattern(
      { word: 'topics', doc: 'topics of the logs by position, each a hash, an empty text for any, or several with | between them' },
      'HEX,HEX',
      'up to four topics with commas between them, each empty or 0x and 64 hex digits, or several with | between them',
      /^(?:(?:0x[0-9a-f]{64}(?:\|0x[0-9a-f]{64})*)?(?:,|$)){1,4}$/i,
    ),
    'lookup.limit': defaulted(integer({ word: 'limit', doc: 'most rows that are printed' }, 'N', 1, 100_000), 50),
  },
  { prefix: 'BASALT_' },
)
