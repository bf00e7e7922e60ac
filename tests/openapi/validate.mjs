// Checks OpenAPI documents with two validators: node validate.mjs FILE...
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';

let errors = 0;
const report = (validator, file, text) => {
  errors += 1;
  console.error(`${file}: ${validator}: ${text}`);
};
for (const file of process.argv.slice(2)) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const result = await new Validator().validate(structuredClone(document));
  if (!result.valid) report('openapi-schema-validator', file, JSON.stringify(result.errors));
  try {
    await SwaggerParser.validate(document);
  } catch (error) {
    report('swagger-parser', file, error.message);
  }
}
console.log(`${process.argv.length - 2} documents, ${errors} errors`);
process.exitCode = errors ? 1 : 0;
