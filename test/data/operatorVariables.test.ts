import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { operatorVariables } from '#test/harness/process/operatorVariables'
import { sharedDataDir } from '#test/harness/sharedData'
import { type FlagName, flags } from '../../src/cli/flags.ts'
import { foreignOf, otherClientEnv, withoutNeutralPrefix } from '../../src/cli/otherClientEnv.ts'
import { readFlagsOfMode } from '../../src/cli/readFlags.ts'

const page = readFileSync(resolve(sharedDataDir, '../reference/operators.md'), 'utf8')
const named = operatorVariables(page)
const flagNames = Object.keys(flags) as FlagName[]

function flagOf(variable: string): FlagName | undefined {
  const meant = withoutNeutralPrefix(variable)
  return flagNames.find((name) => flags[name].aliases.some((alias) => alias.name === meant))
}

/** Meaning of a variable: `--flag`, or the reason why it has none; undefined for an unknown variable. */
function fateOf(variable: string): string | undefined {
  if (variable.endsWith('*')) {
    const start = withoutNeutralPrefix(variable.slice(0, -1))
    const flag = flagNames.find((name) => flags[name].aliases.some((alias) => alias.name.startsWith(start)))
    const foreign = otherClientEnv.find(({ names }) => names.some((name) => name.startsWith(start) || start === name.replace('*', '')))
    return flag === undefined ? (foreign ?? foreignOf(start))?.why : `--${flag}`
  }
  const flag = flagOf(variable)
  return flag === undefined ? foreignOf(variable)?.why : `--${flag}`
}

it('cli/otherClientEnv: finds the variables that the page for operators names', () => {
  expect(named.length).toBeGreaterThan(150)
  expect(named).toEqual(
    expect.arrayContaining([
      'BASE_NODE_P2P_ADVERTISE_UDP_PORT',
      'BASE_NODE_METRICS_INTERVAL',
      'BASE_NODE_P2P_GOSSIP_MESH_DLAZY',
      'BASE_NODE_P2P_SIGNER_*',
      'BASE_NODE_LOG_DIR',
      'BASE_NODE_MODE',
      'GETH_CACHE_TRIE',
      'OP_GETH_NET_RESTRICT',
      'OP_NODE_METRICS_PORT',
      'OP_NODE_P2P_BOOTNODES',
      'CLIENT',
      'PROFILE',
      'TIPS_INGRESS_TX_SUBMISSION_METHOD',
      'TIPS_AUDIT_S3_BUCKET',
      'RUST_BACKTRACE',
      'DD_AGENT_HOST',
    ]),
  )
})

it('cli/otherClientEnv: maps every variable of the page to a flag or to a reason why it has no meaning', () => {
  const fates = named.map((variable) => [variable, fateOf(variable)] as const)
  expect(fates.filter(([, fate]) => fate === undefined || fate === '')).toEqual([])
})

it('cli/otherClientEnv: maps the neutral spelling of every variable too', () => {
  const neutral = named
    .filter((name) => /^(BASE_NODE|RETH)_/.test(name))
    .map((name) => name.replace(/^BASE_NODE/, 'SVC_NODE').replace(/^RETH/, 'CLIENT'))
  expect(neutral.length).toBeGreaterThan(80)
  expect(neutral.filter((variable) => fateOf(variable) === undefined)).toEqual([])
})

it('cli/otherClientEnv: reads a mapped variable as a value with a note, or reports a fault that names it', () => {
  const mapped = named.flatMap((variable) => {
    const flag = variable.endsWith('*') ? undefined : flagOf(variable)
    return flag === undefined ? [] : [[variable, flag] as const]
  })
  expect(mapped.length).toBeGreaterThan(40)
  for (const [variable, flag] of mapped) {
    const alias = flags[flag].aliases.find(({ name }) => name === withoutNeutralPrefix(variable))
    const mode = alias?.modes.find((one) => flags[flag].modes.some((other) => other === one)) ?? 'all'
    const said = (): string => {
      try {
        return JSON.stringify(readFlagsOfMode([flag], mode, {}, { [variable]: '\u0001' }).notes)
      } catch (error) {
        return String(error)
      }
    }
    expect(said(), variable).toContain(variable)
  }
})

it.each([
  [
    'v1.1.0',
    'RETH_CHAIN=base BASE_NODE_NETWORK=base RETH_SEQUENCER_HTTP=https://mainnet-sequencer.base.org BASE_NODE_L1_ETH_RPC=http://l1 BASE_NODE_L1_BEACON=http://b BASE_NODE_L1_TRUST_RPC="false" BASE_NODE_L2_ENGINE_RPC=ws://execution:8551 BASE_NODE_L2_ENGINE_AUTH=/tmp/engine-auth-jwt BASE_NODE_P2P_LISTEN_IP=0.0.0.0 BASE_NODE_LOG_VERBOSITY=3 BASE_NODE_LOG_FORMAT="json" BASE_NODE_METRICS_ENABLED="true" BASE_NODE_METRICS_ADDR=0.0.0.0 BASE_NODE_METRICS_PORT="7300" STATSD_ADDRESS="172.17.0.1"',
  ],
  [
    'Denim',
    'RETH_CHAIN=base-sepolia BASE_NODE_NETWORK=base-sepolia RETH_SEQUENCER_HTTP=https://s BASE_NODE_L1_ETH_RPC=http://l1 BASE_NODE_L1_BEACON=http://b BASE_NODE_L1_TRUST_RPC=false BASE_NODE_L2_ENGINE_RPC=http://execution:8551 BASE_NODE_L2_ENGINE_AUTH=/tmp/jwt RETH_HTTP_API=web3,eth RETH_PRUNING_ARGS=--prune.bodies.distance=50000',
  ],
])('cli/otherClientEnv: starts both halves with the environment file of %s', (_version, file) => {
  const env = Object.fromEntries(file.split(' ').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const consensus = readFlagsOfMode(flagNames, 'consensus', {}, env).values
  expect(consensus).toMatchObject({ 'l1.rpc': ['http://l1'], engine: 'http://execution:8551', 'metrics.port': 7_300, 'log.level': 'info' })
  const execution = readFlagsOfMode(flagNames, 'execution', {}, env).values
  expect(execution).toMatchObject({ network: env['RETH_CHAIN'], 'engine.port': 8_551, 'l1.rpc': undefined, engine: undefined })
})
