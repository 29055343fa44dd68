import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { startCli } from '#test/harness/process/cliProcess'

const dir = mkdtempSync(join(tmpdir(), 'basalt-streams-'))
afterAll(() => rmSync(dir, { recursive: true }))

it('cli: stops as on Ctrl-C when the reader of its output has closed the stream', async () => {
  const chain = readRecordedChain('op-bedrock-to-holocene')
  const [rollup, genesis] = [join(dir, 'rollup.json'), join(dir, 'genesis.json')]
  writeFileSync(rollup, JSON.stringify(chain.rollupJson))
  writeFileSync(genesis, JSON.stringify(chain.genesisJson))
  const l1 = ['--l1.rpc', 'http://127.0.0.1:9', '--l1.poll-interval', '50']
  const files = ['--rollup.config', rollup, '--genesis', genesis, '--datadir', join(dir, 'data')]
  await using cli = startCli([
    'node',
    ...files,
    ...l1,
    '--http.port',
    '0',
    '--rollup.port',
    '0',
    '--ws.port',
    '0',
    '--metrics.port',
    '0',
    '--log.level',
    'trace',
  ])
  await cli.until(/node started/)
  cli.child.stdout?.destroy()
  cli.child.stderr?.destroy()
  const [code, signal] = await once(cli.child, 'exit')
  expect([code, signal]).toEqual([0, null])
}, 60_000)
