import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { serveSnapshot } from '#snapshot/serveSnapshot'
import { runCliProcess, startCli } from '#test/harness/process/cliProcess'
import { executeInto, Folders } from '#test/harness/snapshot/recordedDatadir'
import { eventually } from '../../e2e/nodeProcess.ts'

const folders = new Folders()
afterAll(() => folders[Symbol.dispose]())

/** Mirror of a snapshot that sends no chunk before it is released. */
async function slowMirror(target: string): Promise<{ readonly url: string; release(): void } & AsyncDisposable> {
  const released = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    if (!request.url?.endsWith('.json')) await released.promise
    const { range } = request.headers
    const answer = await fetch(`${target}${request.url}`, range === undefined ? {} : { headers: { range } })
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: released.resolve,
    async [Symbol.asyncDispose](): Promise<void> {
      released.resolve()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Pages = { readonly alive: number; readonly ready: number; readonly problems: readonly string[] }

async function pagesOf(url: string): Promise<Pages> {
  const [alive, ready] = await Promise.all([fetch(`${url}/healthz`), fetch(`${url}/readyz`)])
  const { problems } = (await ready.json()) as Pick<Pages, 'problems'>
  return { alive: alive.status, ready: ready.status, problems }
}

it('process/firstStart: a node that restores a snapshot is alive and not ready, at the port that it has afterwards', async () => {
  const [source, out, datadir] = [folders.make(), folders.make(), folders.make()]
  const base = 6
  const recorded = await executeInto(source, 'op-bedrock-to-holocene', base + 3, base)
  const files = { rollup: join(source, 'rollup.json'), genesis: join(source, 'genesis.json') }
  writeFileSync(files.rollup, JSON.stringify(recorded.rollupJson))
  writeFileSync(files.genesis, JSON.stringify(recorded.genesisJson))
  const chain = ['--rollup.config', files.rollup, '--genesis', files.genesis]
  expect((await runCliProcess(['snapshot', 'create', ...chain, '--datadir', source, '--out', out])).code).toBe(0)
  await using snapshot = await serveSnapshot(out, { host: '127.0.0.1', port: 0 })
  await using mirror = await slowMirror(snapshot.url)

  const begin = ['--snapshot', mirror.url, '--start.block-hash', recorded.blocks[base]?.hash as string, '--trust.require', 'given']
  const ports = ['http', 'ws', 'engine', 'metrics', 'health'].flatMap((name) => [`--${name}.port`, '0'])
  const own = ['--mode', 'execution', '--p2p.execution', 'off', '--log.format', 'json', '--datadir', datadir]
  await using node = startCli(['node', ...own, ...chain, ...begin, ...ports])
  const [, url = ''] = await node.until(/"module":"health","url":"([^"]+)"/)
  const restoring = { alive: 200, ready: 503, problems: [expect.stringMatching(/^the first start is not finished: re/)] }
  for (let round = 0; round < 3; round++) expect(await pagesOf(url)).toEqual(restoring)

  mirror.release()
  const seen: Pages[] = []
  await eventually('the reasons of a running node', 60_000, async () => {
    seen.push(await pagesOf(url))
    return seen.at(-1)?.problems.includes('no consensus half has called since the start') || String(seen.at(-1)?.problems)
  })
  expect(seen.filter(({ alive, ready }) => alive !== 200 || ready !== 503)).toEqual([])
  const [, health = ''] = await node.until(/"health":"(http[^"]+)"/)
  expect(health).toBe(url)
  node.child.kill('SIGTERM')
  expect((await node.ended()).code).toBe(0)
}, 180_000)
