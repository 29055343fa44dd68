// npm run release -- vX.Y.Z [--dry-run] [--out DIR] [--image NAME] [--platforms amd64,arm64] [--skip image,deb]: makes the files of a release: npm tarball,
// an image of each platform (default: this machine's), Debian package, SBOM, provenance, notes, release index, checksums. Without --dry-run the tag must be at HEAD of a clean checkout, and the image is pushed
// when --image names a registry.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packTarball } from './packTarball.ts'
import { root, runNode } from './process.ts'
import { changelogSection } from './release/changelog.ts'
import { baseImage, debianComponents, type Image, makeImage, ownPlatform, type Platform, platforms, pushImages } from './release/image.ts'
import { provenance, sha256Of } from './release/provenance.ts'

/** The part of a CycloneDX document that is changed here. */
type Sbom = { readonly metadata: { readonly component: object }; readonly components: readonly object[] }

const parts = ['tarball', 'image', 'deb', 'sbom', 'notes'] as const
type Part = (typeof parts)[number]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'release') },
    image: { type: 'string', default: 'localhost/basalt' },
    platforms: { type: 'string', default: ownPlatform },
    skip: { type: 'string', default: '' },
  },
})
const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const isDry = values['dry-run']
const skipped = values.skip.split(',').filter((name) => name !== '')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const [tag = ''] = positionals
const wanted = values.platforms.split(',')
const images = wanted.map((platform): Image => ({ name: values.image, tag, platform: platform as Platform }))

/** Reasons why this checkout cannot be released. */
function refusals(): readonly string[] {
  const unknown = skipped.filter((name) => !parts.includes(name as Part))
  const foreign = wanted.filter((name) => !platforms.includes(name as Platform))
  const problems = [
    ...unknown.map((name) => `--skip: ${name} is not one of ${parts.join(', ')}`),
    ...foreign.map((name) => `--platforms: ${name} is not one of ${platforms.join(', ')}`),
  ]
  if (!/^v\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(tag)) return [...problems, 'usage: npm run release -- vX.Y.Z [--dry-run]']
  if (tag !== `v${version}`) problems.push(`package.json has version ${version}: npm version ${tag.slice(1)} --no-git-tag-version`)
  if (isDry) return problems
  if (git('status', '--porcelain') !== '') problems.push('the checkout has changes that no commit has')
  if (!git('tag', '--points-at', 'HEAD').split('\n').includes(tag)) problems.push(`HEAD has no tag ${tag}`)
  if (changelogSection(changelog(), version) === undefined) problems.push(`CHANGELOG.md has no section ${version}`)
  return problems
}

const changelog = (): string => readFileSync(join(root, 'CHANGELOG.md'), 'utf8')

const folder = resolve(values.out, tag)

/** Writes a file of the release. @returns its path */
function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** The images that were made. */
const made: Image[] = []

async function makeImages(): Promise<readonly string[]> {
  const files: string[] = []
  for (const image of images) {
    files.push(await makeImage(image, folder))
    made.push(image)
  }
  return files
}

/** Makes each part; returns its files. */
const makers: Readonly<Record<Part, () => string | Promise<string | readonly string[]>>> = {
  tarball: () => packTarball(folder),
  image: makeImages,
  deb(): string {
    if (runNode('scripts/packageDeb.ts', ['--out', folder]) !== 0) throw new Error('the package cannot be made: see above, or --skip deb')
    return join(folder, execFileSync('sh', ['-c', 'ls *.deb'], { cwd: folder, encoding: 'utf8' }).trim())
  },
  sbom(): string {
    const args = [
      'sbom',
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--omit',
      'dev',
      '--package-lock-only',
      '--workspaces=false',
    ]
    const packages = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })) as Sbom
    // npm takes the name from the folder
    const { component } = packages.metadata
    const metadata = { ...packages.metadata, component: { ...component, name: 'basalt', purl: `pkg:npm/basalt@${version}` } }
    const debian = made.flatMap(debianComponents)
    const sbom: Sbom = { ...packages, metadata, components: [...packages.components, ...debian] }
    return write('sbom.cdx.json', `${JSON.stringify(sbom, null, 2)}\n`)
  },
  notes(): string {
    const notes = changelogSection(changelog(), version) ?? (isDry ? changelogSection(changelog(), 'Unreleased') : undefined)
    if (notes === undefined) throw new Error(`CHANGELOG.md has no section ${version}`)
    return write('notes.md', `# Basalt ${tag}\n\n${notes}\n`)
  },
}

async function makeAll(): Promise<readonly string[]> {
  const failed: string[] = []
  const files: string[] = []
  const startedAt = new Date().toISOString()
  for (const part of parts) {
    if (skipped.includes(part)) continue
    try {
      const written = [await makers[part]()].flat()
      files.push(...written)
      console.error(`${part}: ${written.map((file) => basename(file)).join(', ')}`)
    } catch (error) {
      failed.push(part)
      console.error(`${part}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const commit = git('rev-parse', 'HEAD')
  const finishedAt = new Date().toISOString()
  const origin = {
    ...{ version, commit, startedAt, finishedAt, lockFile: join(root, 'package-lock.json') },
    isChanged: git('status', '--porcelain') !== '',
    ...(!skipped.includes('image') && { baseImage: baseImage() }),
  }
  files.push(write('provenance.intoto.json', `${JSON.stringify(provenance(files, origin), null, 2)}\n`))
  // read by `basalt version --check`
  files.push(write('index.json', `${JSON.stringify({ latest: version, commit, date: finishedAt })}\n`))
  write('SHA256SUMS', files.map((file) => `${sha256Of(file)}  ${basename(file)}\n`).join(''))
  return failed
}

const problems = refusals()
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 2
else {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const failed = await makeAll()
  if (failed.length > 0) process.exitCode = 1
  else if (!isDry && !skipped.includes('image') && values.image.includes('.')) pushImages(images)
  console.log(folder)
}
