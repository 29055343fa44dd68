import { afterEach, expect, it } from 'vitest'
import { type ServedNode, serveNode } from '#test/harness/process/nodeServer'
import { runInTerminal, type TerminalProgram } from '#test/harness/process/terminal'

/** Metrics of a node that does not change, so that its view does not either. */
const metrics = `\
basalt_node_build_info{mode="all"} 1
basalt_node_fork_state{fork="denim"} 1
basalt_consensus_l2_block_number{label="unsafe"} 34567890
basalt_consensus_l2_block_number{label="safe"} 34567740
basalt_consensus_l2_block_number{label="finalized"} 34565000
basalt_node_head_age_seconds{head="unsafe"} 0.21
basalt_node_head_age_seconds{head="safe"} 30.4
basalt_node_head_age_seconds{head="finalized"} 900
basalt_consensus_l1_block_number{label="latest"} 21000003
basalt_consensus_l1_block_number{label="derived"} 21000001
basalt_node_head_age_seconds{head="l1"} 8.25
basalt_node_head_age_seconds{head="l1_derived"} 32.25
basalt_consensus_wait_seconds{reason="l1-blobs"} 75
basalt_node_sync_left_seconds 0
basalt_node_disk_left_seconds 2937600
basalt_node_disk_free_bytes 1.2e+12
basalt_node_store_bytes{store="chain"} 6e+11
basalt_node_memory_bytes{kind="resident"} 9.5e+9
basalt_node_memory_bytes{kind="anonymous"} 6e+9
basalt_memory_limit_bytes 12e9
basalt_memory_pressure_state 1
basalt_execution_blocks_total 100
basalt_execution_gas_total 100
basalt_execution_transactions_total 100
basalt_execution_stage_milliseconds_total{stage="transactions"} 100
basalt_execution_stage_milliseconds_total{stage="commit"} 100
basalt_execution_uncommitted_blocks 3
basalt_execution_journal_bytes 4021
basalt_rpc_call_seconds_bucket{class="instant",le="0.001"} 10
basalt_rpc_call_seconds_bucket{class="instant",le="+Inf"} 10
basalt_rpc_call_seconds_count{class="instant"} 10
basalt_l1_requests_per_block_ratio{api="rpc"} 12.3
basalt_l1_requests_per_block_ratio{api="beacon"} 1
basalt_l1_requests_total{outcome="ok"} 5
basalt_l1_usable_peers{api="rpc"} 2
basalt_cache_held_bytes{cache="blocks"} 2e7
basalt_cache_limit_bytes{cache="blocks"} 9e7
op_node_default_peer_count 41
basalt_p2p_peer_connections{direction="inbound",client="base"} 40
basalt_p2p_peer_connections{direction="outbound",client="other"} 1
`
const problem = 'the memory of the process is near --memory-max\u001b[2J 12000000000: calls are refused'

const rpc = { eth_chainId: { result: '0x2105' }, web3_clientVersion: { result: 'basalt/0.1.0' }, eth_syncing: { result: false } }
let running: TerminalProgram | undefined
let node: ServedNode | undefined
afterEach(async () => {
  await running?.[Symbol.asyncDispose]()
  await node?.[Symbol.asyncDispose]()
})

async function open(size: readonly [number, number], flags: readonly string[] = []) {
  const pages = { '/metrics': { body: metrics }, '/readyz': { status: 503, body: JSON.stringify({ ready: false, problems: [problem] }) } }
  node = await serveNode({ rpc, pages })
  const command = [process.execPath, 'bin/basalt.js', 'top', '--url', node.url, '--metrics-url', node.url, ...flags]
  running = runInTerminal(size, command, process.env)
  return running
}

/** The screen without the time of day, and without the number of its samples. */
const steady = (text: string): string => text.replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss').replaceAll(/▁+/g, '▁')

it('cli/commands/top: shows a node on a terminal of 80×24, and q restores the terminal', async () => {
  const { screen, shows, key, ended } = await open([80, 24], ['--interval', '200ms'])
  await shows('0.0 blocks/s')
  const modes = () => ['?1049', '?25', '?7'].map((mode) => screen.modes.get(mode))
  expect(modes()).toEqual(['set', 'reset', 'reset'])
  expect(steady(screen.text)).toMatchSnapshot()
  key('q')
  expect(await ended).toEqual({ exit: 0, restored: true })
  expect(modes()).toEqual(['reset', 'set', 'set'])
  expect(screen.unknown).toEqual([])
})

it('cli/commands/top: shows all panels that fit on a terminal of 200×60, and the selected one after a change of the size', async () => {
  const { screen, shows, key, resize, ended } = await open([200, 60], ['--interval', '200ms'])
  await shows(/0\.0 blocks\/s[\s\S]*Resources/)
  expect(steady(screen.text)).toMatchSnapshot()
  resize(80, 24)
  await shows(/^(?![\s\S]*Network\n)/)
  expect(screen.text.split('\n').length).toBeLessThanOrEqual(24)
  key('3')
  await shows('calls/s by limits')
  key('\t')
  await shows('L1 endpoints')
  resize(30, 8)
  await shows(/^(?!.{31})/)
  key('\u0003')
  expect(await ended).toEqual({ exit: 0, restored: true })
})

it('cli/commands/top: restores the terminal when a signal ends it', async () => {
  const { screen, shows, signal, ended } = await open([80, 24])
  await shows('not ready')
  signal(15)
  expect(await ended).toEqual({ exit: 0, restored: true })
  expect(screen.modes.get('?1049')).toBe('reset')
})

it('cli/commands/top: keeps the view when the node stops, and shows that nothing answers', async () => {
  const { shows, key, ended } = await open([80, 24], ['--interval', '200ms'])
  await shows('not ready')
  await node?.[Symbol.asyncDispose]()
  node = undefined
  await shows('no answer')
  await shows('metrics does not answer')
  key('q')
  expect((await ended).exit).toBe(0)
})
