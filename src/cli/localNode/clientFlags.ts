import { defaulted, duration, inGroup, integer, onOff, text, url } from '../flagSpec.ts'

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
  'operator.url': url(
    {
      word: 'url',
      secret: true,
      doc: "port with the operator's methods (--rollup.port with --rollup.admin); default: the Unix socket of --ipc.path, else that port on this machine",
    },
    ['http', 'https'],
  ),
  'profile.thread': defaulted(text({ word: 'thread', doc: 'thread of the node: main, execution, rpc-0, p2p …' }, 'NAME'), 'main'),
  'profile.seconds': defaulted(integer({ word: 'seconds', doc: 'time of the profile' }, 'SEC', 1, 120), 30),
  'profile.snapshot': onOff({
    word: 'snapshot',
    doc: 'every object of the heap instead of sampled allocations; the thread stops for seconds, and the file has texts of requests and keys',
  }),
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
