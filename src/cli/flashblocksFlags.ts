import { choice, defaulted, duration, older, port, text, urls } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** Blocks before they are sealed: those of others, followed, and those that are built here, published. */
export const flashblocksFlags = {
  'flashblocks.url': urls(
    {
      env: 'BASALT_FLASHBLOCKS_URL',
      group: 'Flashblocks',
      modes: withExecution,
      aliases: older('RETH_FB_WEBSOCKET_URL', { modes: withExecution }),
      secret: true,
      doc: 'publishers of this chain, all listened to at once: their blocks are pending before they are sealed',
    },
    'ws',
  ),
  'flashblocks.max-age': duration(
    {
      env: 'BASALT_FLASHBLOCKS_MAX_AGE',
      group: 'Flashblocks',
      modes: withExecution,
      doc: 'without a flashblock that fits for so long, pending is what is sealed: 200ms to 60s; default two block times',
    },
    '200ms to 60s',
    (ms) => ms >= 200 && ms <= 60_000,
  ),
  'flashblocks.max-time': duration(
    {
      env: 'BASALT_FLASHBLOCKS_MAX_TIME',
      group: 'Flashblocks',
      modes: withExecution,
      doc: 'time for executing one block that is not sealed, all its flashblocks; a block that takes longer is given up: 200ms to 60s; default two block times',
    },
    '200ms to 60s',
    (ms) => ms >= 200 && ms <= 60_000,
  ),
  'pending.fallback': defaulted(
    choice(
      {
        env: 'BASALT_PENDING_FALLBACK',
        group: 'Flashblocks',
        modes: withExecution,
        doc: 'the sealed block that pending means while nothing newer is known',
      },
      ['latest', 'finalized'],
    ),
    'latest',
  ),
  'flashblocks.addr': defaulted(
    text(
      {
        env: 'BASALT_FLASHBLOCKS_ADDR',
        group: 'Flashblocks',
        modes: withExecution,
        aliases: older('FLASHBLOCKS_WS_ADDR', { modes: withExecution }),
        doc: 'address where blocks that are built here are published',
      },
      'ADDRESS',
    ),
    '127.0.0.1',
  ),
  'flashblocks.port': defaulted(
    port({
      env: 'BASALT_FLASHBLOCKS_PORT',
      group: 'Flashblocks',
      modes: withExecution,
      aliases: older('FLASHBLOCKS_WS_PORT', { modes: withExecution }),
      doc: 'WebSocket that publishes blocks that are built here while they are built; 0: any free port; off: none',
    }),
    'off',
  ),
  'flashblocks.interval': defaulted(
    duration(
      {
        env: 'BASALT_FLASHBLOCKS_INTERVAL',
        group: 'Flashblocks',
        modes: withExecution,
        doc: 'between two published slices of a block: 50ms to 2s',
      },
      '50ms to 2s',
      (ms) => ms >= 50 && ms <= 2_000,
    ),
    200,
    '200ms',
  ),
} as const
