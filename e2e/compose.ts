// npm run test:compose -- [--layout single|halves] [--json FILE]: uses the compose file as an operator does, over a recorded L1. Needs a
// Docker Engine with Compose.
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rpcCall } from '#test/harness/process/cliProcess'
import { describe, type Row, row } from '../bench/format.ts'
import { root } from '../scripts/process.ts'
import { compressedBytes, createProject, docker, hostAddress, type Project, processorSeconds } from './compose/docker.ts'
import { testProofs } from './compose/proofs.ts'
import { serveWorld, startSource, untilSafe, type World } from './compose/world.ts'

const { values } = parseArgs({ options: { layout: { type: 'string' }, json: { type: 'string' }, runs: { type: 'string', default: '5' } } })

/** A separate loopback address, so that the ports of the compose file are free whatever else runs here. */
const publishAddr = '127.77.0.1'
const at = (port: number): string => `http://${publishAddr}:${port}`
const urls = { http: at(8545), rollup: at(7545) }
const image = 'localhost/basalt-e2e'

type Layout = {
  readonly name: 'single' | 'halves'
  readonly services: readonly string[]
  readonly metrics: readonly number[]
  readonly ports: readonly string[]
  /** variable that switches recorded proofs on */
  readonly proofs: string
}
/** TCP and UDP */
const [p2pPorts, executionP2pPorts] = [
  ['9222', '9222'],
  ['30303', '30303'],
] as const
const layouts: readonly Layout[] = [
  {
    name: 'single',
    services: ['single'],
    metrics: [7300],
    ports: [...executionP2pPorts, '7300', '7545', '8545', '8546', ...p2pPorts],
    proofs: 'CLIENT_HISTORICAL_PROOFS',
  },
  {
    name: 'halves',
    services: ['execution', 'node'],
    metrics: [7300, 7301],
    ports: [...executionP2pPorts, '7300', '7301', '7545', '8545', '8546', ...p2pPorts],
    proofs: 'RETH_HISTORICAL_PROOFS',
  },
]

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what)
}

const say = (text: string): void => console.error(text)

async function timed<T>(task: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = performance.now()
  const result = await task()
  return { seconds: (performance.now() - start) / 1000, result }
}

/** Writes the files of a custom chain, and a compose file that mounts them. */
function writeSettings(folder: string, world: World): { files: readonly string[]; settings: Record<string, string> } {
  const write = (name: string, content: string): string => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  mkdirSync(join(folder, 'chain'))
  write('chain/rollup.json', JSON.stringify(world.chain.rollupJson))
  write('chain/genesis.json', JSON.stringify(world.chain.genesisJson))
  const env = write(
    'test.env',
    [
      'BASALT_ROLLUP_CONFIG=/chain/rollup.json',
      'BASALT_GENESIS=/chain/genesis.json',
      `BASE_NODE_L1_ETH_RPC=${world.url}`,
      `SVC_NODE_L1_BEACON="${world.url}"`,
      'BASALT_L1_POLL_INTERVAL=100',
      'BASE_NODE_LOG_FORMAT="json"',
      'BASE_NODE_L1_TRUST_RPC="false"',
      'STATSD_ADDRESS="172.17.0.1"',
    ].join('\n'),
  )
  const mount = `volumes: ['${folder}/chain:/chain:ro']`
  const services = ['execution', 'node', 'single'].map((service) => `  ${service}:\n    ${mount}\n`).join('')
  const override = write('override.yaml', `services:\n${services}`)
  // only its owner can read a folder of mkdtemp; the node in the container is another user
  chmodSync(folder, 0o755)
  return {
    files: [join(root, 'compose.yaml'), override],
    settings: {
      NETWORK_ENV: env,
      HOST_DATA_DIR: join(folder, 'data'),
      PUBLISH_ADDR: publishAddr,
      P2P_ADDR: publishAddr,
      NODE_IMAGE: image,
    },
  }
}

/** Checks that no service is root, that only the data is writable, that only the documented ports are published, and that the secret is private. */
async function checkIsolation(project: Project, layout: Layout): Promise<void> {
  const published: string[] = []
  for (const service of layout.services) {
    const { Config, HostConfig } = await project.container(service)
    must(HostConfig.ReadonlyRootfs, `${service}: the root file system is writable`)
    must(Config.User === 'node', `${service}: runs as ${Config.User}`)
    must((await project.compose(['exec', '-T', service, 'id', '-u'])) !== '0', `${service}: runs as root`)
    const wrote = await project.compose(['exec', '-T', service, 'sh', '-c', 'touch /app/x 2>/dev/null && echo yes || echo no'])
    must(wrote === 'no', `${service}: the program is writable`)
    for (const bindings of Object.values(HostConfig.PortBindings)) {
      for (const { HostIp, HostPort } of bindings) {
        must(HostIp === publishAddr, `${service}: ${HostPort} is published on ${HostIp}`)
        published.push(HostPort)
      }
    }
  }
  must(published.sort().join() === layout.ports.join(), `published: ${published.join()}, expected ${layout.ports.join()}`)
  if (layout.name === 'single') return
  const secrets = await Promise.all(layout.services.map((service) => project.compose(['exec', '-T', service, 'cat', '/jwt/jwt.hex'])))
  must(new Set(secrets).size === 1 && /^[0-9a-f]{64}$/.test(secrets[0] ?? ''), 'the halves do not share a secret')
  must(
    (await project.compose(['exec', '-T', 'execution', 'stat', '-c', '%a', '/jwt/jwt.hex'])) === '600',
    'other users may read the secret',
  )
  const logs = await project.compose(['logs', '--no-color'])
  must(logs.includes('node started') && !logs.includes(secrets[0] ?? ''), 'the secret is in the log')
}

const shownMetrics = [
  'basalt_node_head_age_seconds{head="safe"}',
  'basalt_node_loop_lag_seconds',
  'basalt_faults_total',
  'basalt_node_store_bytes',
]

/** Checks that every published port answers, and refuses web pages of other origins and names. */
async function checkPorts(layout: Layout, chainId: number): Promise<void> {
  must(Number(await rpcCall(urls.http, 'eth_chainId')) === chainId, '8545 is another chain')
  must((await fetch(`${urls.rollup}/readyz`)).status === 200, '7545 is not ready')
  for (const port of layout.metrics) {
    const text = await (await fetch(`${at(port)}/metrics`)).text()
    for (const name of shownMetrics) must(text.includes(`\n${name}`), `${port} has no ${name}`)
  }
  must((await webSocketCall(`ws://${publishAddr}:8546`, 'eth_chainId')) === chainId, '8546 is another chain')
}

async function webSocketCall(url: string, method: string): Promise<number> {
  const socket = new WebSocket(url)
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error(`${url} does not answer`))
    socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }))
    socket.onmessage = ({ data }) => {
      socket.close()
      resolve(Number((JSON.parse(String(data)) as { result: string }).result))
    }
  })
}

/** Kills the process inside a container as the kernel would: Docker did not stop it, so its restart policy applies. */
async function kill9(project: Project, service: string): Promise<void> {
  const { State } = await project.container(service)
  process.kill(State.Pid, 'SIGKILL')
}

async function killEach(project: Project, layout: Layout, world: World): Promise<number> {
  let revealed = world.l1.head
  const victims = [...layout.services, layout.services].flatMap((victim, index) => [[index, [victim].flat()] as const])
  for (const [, services] of victims) {
    for (const service of services) await kill9(project, service)
    revealed = Math.min(world.lastL1 - 8, revealed + 8)
    world.l1.reveal(revealed)
    const { seconds } = await timed(() => untilSafe(world, revealed, urls))
    say(`  kill -9 of ${services.join(' and ')}: up to L1 block ${revealed} ${seconds.toFixed(1)} s later`)
    for (const service of services) must((await project.container(service)).RestartCount > 0, `${service} was not killed`)
  }
  return revealed
}

/** Checks that a secret in the env file overrides the secret of an earlier start, and that an invalid setting is in the log of the service. */
async function checkGivenSecret(project: Project, envFile: string, up: readonly string[]): Promise<void> {
  appendFileSync(envFile, `\nBASE_NODE_L2_ENGINE_AUTH_RAW=${'5e'.repeat(32)}\n`)
  await project.compose(up)
  const logs = await project.compose(['logs', '--no-color'])
  must(logs.split('its file is not used').length === 3, 'the halves do not log, once each, that the file of the secret is not used')
  say('  a secret in the env file overrides the file')
  appendFileSync(envFile, 'BASALT_LOG_LEVEL=loud\n')
  const failed = await project.compose(up).then(
    () => false,
    () => true,
  )
  must(failed, 'an invalid setting is not a failure')
  const told = await project.compose(['logs', '--no-color', 'execution'])
  must(/"code":"BAD_FLAG".*--log\.level/.test(told), 'a restart loop does not log its reason')
  say('  an invalid setting is in the log of execution')
}

const upOf = ({ name }: Layout): readonly string[] => [
  'up',
  '--detach',
  '--wait',
  '--wait-timeout',
  '120',
  ...(name === 'single' ? ['single'] : []),
]

const down = ['down', '--timeout', '60']

/** Runs a test on a project of its own, which is removed at the end. A failure prints the last lines of its log. */
async function inProject<T>(
  layout: Layout,
  name: string,
  world: World,
  folder: string,
  test: (project: Project) => Promise<T>,
): Promise<T> {
  const { files, settings } = writeSettings(folder, world)
  // down and logs ignore a service whose profile is off
  const project = createProject(`basalt-e2e-${name}`, files, { ...settings, COMPOSE_PROFILES: layout.name })
  try {
    return await test(project)
  } catch (error) {
    say(await project.compose(['logs', '--no-color', '--tail', '40']).catch(String))
    throw error
  } finally {
    await project.compose([...down, '--volumes', '--remove-orphans']).catch(say)
  }
}

/** Folder of the chain on the host. */
const chainFolder = (folder: string, { chain }: World): string => join(folder, 'data/basalt', `chain-${chain.config.l2ChainId}`)

function testLayout(layout: Layout, world: World, folder: string): Promise<Row> {
  say(`${layout.name}: ${layout.services.join(', ')}`)
  return inProject(layout, layout.name, world, folder, async (project) => {
    const up = upOf(layout)
    world.l1.reveal(20)
    const first = await timed(() => project.compose(up))
    say(`  up --wait on an empty data directory: ${first.seconds.toFixed(1)} s`)
    must(first.seconds <= 60, `up --wait took ${first.seconds} s`)
    await untilSafe(world, 20, urls)
    await checkPorts(layout, world.chain.config.l2ChainId)
    await checkIsolation(project, layout)
    must(existsSync(chainFolder(folder, world)), 'the chain does not have its own folder')
    await killEach(project, layout, world)

    const runs: number[] = []
    for (let round = 0; round < Number(values.runs); round++) {
      const stopped = await timed(() => project.compose(down))
      must((await project.compose(['ps', '--all', '--quiet'])) === '', 'down leaves containers behind')
      const { seconds } = await timed(() => project.compose(up))
      runs.push(seconds)
      const containers = await Promise.all(layout.services.map((service) => project.container(service)))
      const cpu = containers.map((container) => processorSeconds(container).toFixed(1)).join(' + ')
      const load = loadavg()[0]?.toFixed(1)
      say(
        `  down ${stopped.seconds.toFixed(1)} s, up --wait on the same data ${seconds.toFixed(1)} s (${cpu} s of processor time, load ${load})`,
      )
    }
    // on a busy machine the time is not judged
    const isBusy = (loadavg()[0] ?? 0) > 3 * availableParallelism()
    if (isBusy) say('  this machine is busy: the limit of 10 s is not applied')
    must(isBusy || Math.max(...runs) <= 10, `up --wait on existing data took ${Math.max(...runs)} s`)
    world.l1.reveal(world.lastL1)
    await untilSafe(world, world.lastL1, urls)
    if (layout.name === 'halves') await checkGivenSecret(project, join(folder, 'test.env'), up)
    return row(`docker compose up --wait on an existing data directory, ${layout.name}`, 's', runs)
  })
}

/** Runs the trial of recorded proofs on a chain of its own. */
function testRecordedProofs(layout: Layout, world: World, folder: string): Promise<void> {
  say(`${layout.name}, with recorded proofs`)
  return inProject(layout, `${layout.name}-proofs`, world, folder, async (project) => {
    const trial = { project, world, urls, down, envFile: join(folder, 'test.env'), folder: chainFolder(folder, world) }
    if (layout.name === 'single') return await testProofs({ ...trial, up: upOf(layout) }, layout.proofs, say)
    await using ahead = await serveWorld('op-ecotone-to-jovian', host)
    await using source = await startSource(ahead, join(folder, 'source'))
    // not --wait: the halves are not ready while the head of the followed node stays
    await testProofs({ ...trial, up: ['up', '--detach'], followed: { url: source.url, world: ahead } }, layout.proofs, say)
  })
}

/** Checks that an existing tag is used unchanged, and that --build replaces the image of the tag. */
async function testTags(folder: string, world: World): Promise<void> {
  const { files, settings } = writeSettings(folder, world)
  const project = createProject('basalt-e2e-tag', files, { ...settings, NODE_TAG: 'v1.2.3' })
  await docker(['tag', 'node:24-bookworm-slim', `${image}:v1.2.3`])
  const idOf = (name: string): Promise<string> => docker(['image', 'inspect', '--format', '{{.Id}}', name])
  try {
    await project.compose(['create'])
    must((await project.container('execution')).Image === (await idOf('node:24-bookworm-slim')), 'NODE_TAG=v1.2.3 was not used unchanged')
    await project.compose(['create', '--build'])
    must(
      (await project.container('execution')).Image !== (await idOf('node:24-bookworm-slim')),
      '--build did not override the pinned image',
    )
    must(/basalt/.test(await docker(['run', '--rm', `${image}:v1.2.3`, 'version'])), '--build did not make an image of Basalt')
    say('NODE_TAG: an existing image is used without a build; --build builds')
  } finally {
    await project.compose(['down', '--volumes']).catch(say)
    await docker(['image', 'rm', `${image}:v1.2.3`]).catch(say)
  }
}

/** The base image on the machine: the digest in the Dockerfile needs a registry. */
process.env['BASE_IMAGE'] ??= 'node:24-bookworm-slim'
const wanted = layouts.filter(({ name }) => values.layout === undefined || values.layout === name)
const folder = mkdtempSync(join(tmpdir(), 'basalt-compose-'))
const host = await hostAddress()
const rows: Row[] = []
try {
  const built = await timed(() => docker(['compose', 'build', 'execution'], { NODE_IMAGE: image }))
  const megabytes = (await compressedBytes(`${image}:latest`)) / 1e6
  say(`image: built in ${built.seconds.toFixed(0)} s, ${megabytes.toFixed(0)} MB compressed`)
  must(megabytes <= 250, `the image has ${megabytes} MB`)
  rows.push(row('image, compressed', 'MB', [megabytes]))
  for (const layout of wanted) {
    await using world = await serveWorld('op-ecotone-to-jovian', host)
    mkdirSync(join(folder, layout.name))
    rows.push(await testLayout(layout, world, join(folder, layout.name)))
    await using other = await serveWorld('op-ecotone-to-jovian', host)
    mkdirSync(join(folder, `${layout.name}-proofs`))
    await testRecordedProofs(layout, other, join(folder, `${layout.name}-proofs`))
  }
  await using world = await serveWorld('op-ecotone-to-jovian', host)
  mkdirSync(join(folder, 'tags'))
  await testTags(join(folder, 'tags'), world)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const { name, value, unit, runs } of rows)
  console.log(`${name}: ${value.toFixed(1)} ${unit} (at most ${Math.max(...runs).toFixed(1)})`)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(describe('compose', rows), null, 2)}\n`)
