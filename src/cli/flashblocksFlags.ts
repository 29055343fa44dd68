import { choice, defaulted, duration, inGroup, older, port, text, urls } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** Flags of flashblocks: streams to follow, and the publisher of blocks under construction. */
export const flashblocksFlags = inGroup(
  'Flashblocks',
  {
    'flashblocks.url': urls(
      {
        aliases: older('RETH_FB_WEBSOCKET_URL', { modes: withExecution }),
        secret: true,
        doc: 'publishers of flashblocks of this chain, followed all at once; `pending` is answered from them',
      },
      'ws',
    ),
    'flashblocks.max-age': duration(
      {
        doc: 'time without a fitting flashblock after which `pending` is a sealed block: 200ms to 60s; default two block times',
      },
      '200ms to 60s',
      (ms) => ms >= 200 && ms <= 60_000,
    ),
    'flashblocks.max-time': duration(
      {
        doc: 'maximal execution time of one pending block, all its flashblocks; a block that takes longer is dropped: 200ms to 60s; default two block times',
      },
      '200ms to 60s',
      (ms) => ms >= 200 && ms <= 60_000,
    ),
    'pending.fallback': defaulted(
      choice(
        {
          doc: 'the sealed block that `pending` means without a fresh pending block; from Denim on it is always latest',
        },
        ['latest', 'finalized'],
      ),
      'latest',
    ),
    'flashblocks.addr': defaulted(
      text(
        {
          aliases: older('FLASHBLOCKS_WS_ADDR', { modes: withExecution }),
          doc: 'address of the publisher of flashblocks',
        },
        'ADDRESS',
      ),
      '127.0.0.1',
    ),
    'flashblocks.port': defaulted(
      port({
        aliases: older('FLASHBLOCKS_WS_PORT', { modes: withExecution }),
        doc: 'WebSocket that publishes flashblocks of blocks under construction; 0: any free port; off: none',
      }),
      'off',
    ),
    'flashblocks.interval': defaulted(
      duration(
        {
          doc: 'interval between published flashblocks: 50ms to 2s',
        },
        '50ms to 2s',
        (ms) => ms >= 50 && ms <= 2_000,
      ),
      200,
      '200ms',
    ),
  },
  { modes: withExecution },
)
