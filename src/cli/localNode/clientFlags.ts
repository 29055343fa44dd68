import { defaulted, duration, inGroup, integer, url } from '../flagSpec.ts'

/** Flags of commands that read from a running node. */
export const clientFlags = inGroup('Running node', {
  url: url(
    {
      secret: true,
      doc: 'JSON-RPC of the node; default: the port of --http.port on this machine, which the environment of the node may set',
    },
    ['http', 'https'],
  ),
  'metrics-url': url(
    {
      secret: true,
      doc: '/metrics of the node; default: the ports of --metrics.port and --rollup.port on this machine or the host of --url',
    },
    ['http', 'https'],
  ),
  'da.blocks': defaulted(integer({ word: 'blocks', doc: 'newest L1 blocks that are searched for batches' }, 'N', 2, 2_000), 50),
  'top.interval': duration(
    {
      word: 'interval',
      doc: 'time between two samples; default: 1s. With --json it prints samples until it is interrupted, and one sample without it',
    },
    'a time from 200ms to 3600s',
    (ms) => ms >= 200 && ms <= 3_600_000,
  ),
})
