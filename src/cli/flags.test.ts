import { expect, it } from 'vitest'
import { type FlagName, flags, readFlags } from './flags.ts'

it('cli/flags: the command line wins over the environment, that over the fallback', () => {
  const env = { BASALT_HTTP_PORT: '9000', BASALT_ROLLUP_PORT: '9001' }
  expect(readFlags(['http.port', 'rollup.port', 'datadir'], { 'http.port': '1' }, env)).toEqual({
    'http.port': 1,
    'rollup.port': 9001,
    datadir: './basalt-data',
  })
})

it('cli/flags: the names that operators of Base nodes have in their environment are read too', () => {
  expect(readFlags(['l1.rpc'], {}, { BASE_NODE_L1_ETH_RPC: 'http://a:1,https://b' })['l1.rpc']).toEqual(['http://a:1', 'https://b'])
})

it.each<[FlagName, string, string]>([
  ['http.port', '70000', 'an integer from 0 to 65535'],
  ['http.port', '-1', 'an integer from 0 to 65535'],
  ['l1.poll-interval', '1e9', 'an integer from 50 to 600000'],
  ['log.level', 'loud', 'one of trace, debug, info, warn, error'],
  ['network', 'optimism', 'one of base, base-sepolia'],
  ['datadir', '', 'a text'],
  ['json', 'yes', 'true or false'],
])('cli/flags: --%s %j is refused, naming what is expected (BAD_FLAG)', (name, value, expected) => {
  expect(() => readFlags([name], { [name]: value }, {})).toThrow(`--${name}: ${JSON.stringify(value)} is not ${expected}`)
})

it('cli/flags: a secret is not in the fault (BAD_FLAG)', () => {
  expect(() => readFlags(['l1.rpc'], { 'l1.rpc': 'ftp://key@host' }, {})).toThrow(
    '--l1.rpc: "(secret)" is not a list of http or https URLs',
  )
})

it('cli/flags: a flag without its feature is refused, not accepted (UNSUPPORTED)', () => {
  expect(() => readFlags(['ws.port'], { 'ws.port': '8546' }, {})).toThrow('--ws.port is not supported yet')
  expect(() => readFlags(['ws.port'], {}, { BASALT_WS_PORT: '8546' })).toThrow('--ws.port is not supported yet')
})

it('cli/flags: every flag has its own variable that begins with BASALT_', () => {
  const names = Object.values(flags).map((flag) => flag.env)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !name.startsWith('BASALT_'))).toEqual([])
})
