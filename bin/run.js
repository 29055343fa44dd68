// `node bin/run.js scripts/x.ts …`: an npm script on Node 24, whatever the machine has.
import { resolve } from 'node:path'
import { launch } from './launch.js'

const [file = '', ...args] = process.argv.slice(2)
await launch(resolve(file), args)
