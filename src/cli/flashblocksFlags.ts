import { defaulted, duration, older, port, text } from './flagSpec.ts'

const withExecution = ['all', 'execution'] as const

/** Blocks before they are sealed: those that are built here, published. */
export const flashblocksFlags = {
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
